"""Models and datasets: names by where they stand and by what is known of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from agent.offline.lexicon import ADJECTIVES, known_datasets, known_models
from agent.offline.model import Vocabulary
from agent.offline.text import GONE, Page

_NAME = (
    r"(?:\d+[A-Za-z][A-Za-z0-9]*-[A-Za-z][A-Za-z0-9]*|[A-Za-z][A-Za-z0-9]*(?:[-_.+][A-Za-z0-9]+(?:\.\d+)*)*(?:/\d+)?)"
)
_ZH_DATASET = re.compile(
    rf"在(?:[\u4e00-\u9fff]{{0,8}}(?:数据集|数据))?\s*(?P<names>{_NAME}(?:\s+{_NAME})?(?:\s*(?:、|,|和|与|及|以及)\s*{_NAME})*)\s*(?:数据集|这个数据集|数据)?\s*(?:上|中|里|数据集)"
)
_EN_DATASET = re.compile(
    r"(?<![a-z])(?:on|over|using\s+the|in|dataset\s*[:=]?|datasets\s*[:=]?|data\s*[:=])\s+(?:the\s+|both\s+|all\s+of\s+)?$",
    re.IGNORECASE,
)
_JOINS = re.compile(
    r"^\s*(?:,\s*and|,|、|/|&|\+|and|or|vs\.?|versus|n|和|与|以及|及|跟|或|同)\s*(?:the\s+|a\s+|an\s+)?$", re.IGNORECASE
)
_MODEL_KEY = re.compile(
    r"(?<![a-z])models?\s*(?:=|:|are|is|in)\s*[\[({]?\s*$|模型\s*(?::|是|为|用)?\s*$", re.IGNORECASE
)


@cache
def common_words() -> frozenset[str]:
    """Words of everyday chat that are never a name by themselves."""
    return frozenset(files("agent.offline").joinpath("common_words.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class Name:
    """A name on the page; `place` says what it stands behind."""

    text: str
    start: int
    end: int


def read_names(page: Page, vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
    """The models and the datasets, in order, as written."""
    models: list[str] = []
    datasets: list[str] = []
    for match in _ZH_DATASET.finditer(page.left):
        if GONE not in match[0]:
            parts = re.split(r"\s*(?:、|,|以及|和|与|及)\s*", match["names"])
            datasets += [part.strip() for part in parts if part.strip().lower() not in common_words()]
            page.cross_off(match.start("names"), match.end("names"))
    names = list(_names(page, vocabulary))
    last_is_dataset = False
    previous: Name | None = None
    for name in names:
        between = page.left[previous.end : name.start] if previous is not None else ""
        joined = previous is not None and _JOINS.match(between) is not None
        is_dataset = _is_dataset(page, name, vocabulary, joined=joined, after_dataset=last_is_dataset)
        (datasets if is_dataset else models).append(name.text)
        last_is_dataset, previous = is_dataset, name
    return list(dict.fromkeys(models)), list(dict.fromkeys(datasets))


def _is_dataset(page: Page, name: Name, vocabulary: Vocabulary, *, joined: bool, after_dataset: bool) -> bool:
    key = _key(name.text)
    known = _kind_of(
        key, _keys((*vocabulary.models, *known_models())), _keys((*vocabulary.datasets, *known_datasets()))
    )
    if known is not None:
        return known == "dataset"
    before = page.left[: name.start]
    if _MODEL_KEY.search(before):
        return False
    if _EN_DATASET.search(before):
        return True
    return joined and after_dataset


def _names(page: Page, vocabulary: Vocabulary) -> Iterator[Name]:
    """Names from left to right: known ones of several words, then words that look like names or stand like them."""
    known = _known_pattern(vocabulary.models, vocabulary.datasets)
    text = page.left
    taken: list[tuple[int, int, bool]] = [(m.start(), m.end(), True) for m in known.finditer(page.lower)]
    for match in re.finditer(rf"(?<![A-Za-z0-9_\x00-]){_NAME}", text):
        if not any(start < match.end() and match.start() < end for start, end, _known in taken):
            taken.append((match.start(), match.end(), False))
    taken.sort()
    kept = [(start, end) for start, end, sure in taken if sure or _looks_like_name(page, start, end)]
    for start, end in _merged(page, kept, known, vocabulary):
        start, end = _with_adjective(text, start, end)
        yield Name(re.sub(r"^the\s+", "", page.original(start, end).strip(), flags=re.IGNORECASE), start, end)


def _merged(
    page: Page, spans: Sequence[tuple[int, int]], known: re.Pattern[str], vocabulary: Vocabulary
) -> list[tuple[int, int]]:
    """Neighbouring capitalised words are one name (`Vision Transformer`), unless both are known names by themselves."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged:
            before, stop = merged[-1]
            first, second = page.left[before:stop], page.left[start:end]
            models = _keys((*vocabulary.models, *known_models()))
            kinds = {
                _kind_of(_key(name), models, _keys((*vocabulary.datasets, *known_datasets())))
                for name in (first, second)
            }
            if kinds == {"model"} and page.left[stop:start] == " ":
                merged[-1] = (before, end)
                continue
            capital = first[:1].isupper() and second[:1].isupper() and page.left[stop:start] == " "
            both = known.fullmatch(first.lower()) is not None and known.fullmatch(second.lower()) is not None
            if capital and not both and not re.search(r"\d", first):
                merged[-1] = (before, end)
                continue
        merged.append((start, end))
    return merged


def _looks_like_name(page: Page, start: int, end: int) -> bool:
    text = page.left[start:end]
    if text.lower().rstrip(".") in common_words() or len(text) < 2:
        return False
    if re.search(r"\d", text) or re.search(r"[A-Z]", text[1:]):
        return True
    before = page.left[:start]
    begins = re.search(r"(?:^|[.!?;]\s*)$", before) is not None
    if text[:1].isupper() and not begins:
        return True
    return _stands_like_name(before, page.left[end:])


def _stands_like_name(before: str, after: str) -> bool:
    """A plain word where only a name makes sense: after a verb of comparing, after “on”, or joined to such a word."""
    verbs = (
        r"(?:compare|comapre|train|retrain|finetune|fine-tune|benchmark|evaluate|test|run|try|ablate|tune|pretrain|vs\.?|versus|for|with"
        r"|on|比较|对比|训练|微调|测试|评估|用|跑)\s*(?:the\s+|a\s+|an\s+|both\s+|一下)?$"
    )
    if re.search(rf"(?<![a-z]){verbs}", before, re.IGNORECASE):
        return True
    joined = re.search(r"(?:,|\band|\bor|/|、|和|与|\bvs\.?|\bn)\s*(?:the\s+)?$", before, re.IGNORECASE)
    return joined is not None and re.match(r"\s*(?:,|and\b|on\b|、|和|与|在|;|\.|$|with\b)", after) is not None


def _with_adjective(text: str, start: int, end: int) -> tuple[int, int]:
    """`small ViT` and `GPT-2 small` keep their word of size."""
    body = "|".join(ADJECTIVES)
    before = re.search(rf"(?<![A-Za-z0-9-])(?:{body})\s+$", text[:start], re.IGNORECASE)
    after = re.match(rf"\s(?:{body})(?![A-Za-z0-9-]|\s+(?:and|vs|or|,)\s)", text[end:], re.IGNORECASE)
    if before is not None:
        return before.start(), end
    return (start, end + after.end()) if after is not None else (start, end)


@cache
def _known_pattern(models: tuple[str, ...], datasets: tuple[str, ...]) -> re.Pattern[str]:
    words = sorted({*models, *datasets, *known_models(), *known_datasets()}, key=len, reverse=True)
    body = "|".join(re.escape(word.lower()).replace(r"\ ", r"[\s_-]+").replace(r"\-", r"[-_\s]?") for word in words)
    tail = r"(?:(?<=[a-z])\d+[a-z]?)?(?:[-_.+][a-z0-9]+(?:\.\d+)*)*(?:/\d+)?"
    return re.compile(rf"(?<![a-z0-9_\x00-])(?:{body})(?:{tail})?(?![a-z0-9_])")


def _kind_of(key: str, models: frozenset[str], datasets: frozenset[str]) -> str | None:
    """What a known name, or one that begins with a known family's name (`llama7b`, `resnet50`), stands for."""
    for length in range(len(key), 2, -1):
        if key[:length] in datasets:
            return "dataset"
        if key[:length] in models:
            return "model"
    return None


@cache
def _keys(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_key(name) for name in names)


def _key(name: str) -> str:
    return re.sub(r"[\s\-_.]+", "", name.lower())
