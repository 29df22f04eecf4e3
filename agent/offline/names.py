"""Models and datasets: names by what is known of them and by where they stand."""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from agent.offline.lexicon import ADJECTIVES, LEVELS
from agent.offline.sheet import Sheet

Kind = Literal["model", "dataset"]
_DATA_PLACES = frozenset("on over across onto".split())
_DATA_WORDS = frozenset("dataset datasets data 数据集 数据 corpus corpora benchmark 语料 split subset".split())
_ARTICLES = frozenset(
    "the a an both our new plain vanilla standard same full whole all pretrained pre-trained my this 这个 一个 个 the same old regular original".split()
)
_MODEL_PLACES = frozenset("for with in into using of 用 把 让 将 基于 给 and".split())
_SIZES = re.compile(
    r"(?:\d+(?:\.\d+)?[bBmMkK]|[xX]{0,2}[sSmMlL]|v\d+(?:\.\d+)?|instruct|chat|base|\d+x\d+b)$", re.IGNORECASE
)
_EVERYDAY = frozenset(
    "race math places adult wine traffic spider humanoid electricity align opt coca rainbow performer flan dolly informer hopper traffic pile waymo zinc math cub".split()
)
"""Names that are also words: they are names where a name is due."""
_ELISION = re.compile(r"(.*?[-_ ]?)(\d{1,4}|[bBsS]\d{1,2}|v\d{1,2}|(?<=[-_ \d])[sSmMlLbBtTnx])$", re.ASCII)


@dataclass(frozen=True)
class Name:
    """A name on the sheet; `kind` is `None` where only its place can tell."""

    text: str
    start: int
    end: int
    kind: Kind | None
    more: tuple[str, ...] = ()


def read_names(sheet: Sheet) -> tuple[list[str], list[str]]:
    """The models and the datasets, in order, as written; what is read is marked as used."""
    names = _found(sheet)
    kinds = _settled(sheet, names)
    models: list[str] = []
    datasets: list[str] = []
    for name, kind in zip(names, kinds, strict=True):
        sheet.take(name.start, name.end)
        text = re.sub(r"^(?:the|a|an)\s+", "", name.text, flags=re.IGNORECASE)
        if kind == "dataset":
            datasets += [text, *name.more]
        elif kind == "model":
            models += [text, *name.more]
    return list(dict.fromkeys(models)), list(dict.fromkeys(datasets))


def _found(sheet: Sheet) -> list[Name]:
    names: list[Name] = []
    place = 0
    while place < len(sheet):
        name = _name_at(sheet, place)
        if name is None:
            place += 1
        else:
            more, end = _elided(sheet, name.end, name.text)
            names.append(replace(name, end=end, more=tuple(more)))
            place = end
    return names


def _name_at(sheet: Sheet, place: int) -> Name | None:
    """The name that begins there, with its word of size before and its tail behind."""
    start = place
    if (
        sheet.low(place) in ADJECTIVES
        and sheet.free(place)
        and (_known(sheet, place + 1) == "model" or _looks(sheet, place + 1))
    ):
        place += 1
    kind = _known(sheet, place)
    if kind is None and not (_looks(sheet, place) or _stands(sheet, place)):
        return None
    end = _with_tail(sheet, place, kind)
    return Name(sheet.said(start, end), start, end, kind or ("model" if start < place else None))


def _known(sheet: Sheet, place: int) -> Kind | None:
    if not sheet.free(place):
        return None
    term = sheet.terms[place]
    model, dataset = term.as_a("model"), term.as_a("dataset")
    if model is None and dataset is None:
        return None
    if (
        term.kind in ("metric", "setting", "level", "common", "unit", "verb")
        and not term.text[:1].isupper()
        and term.kind != "metric"
    ):
        return None
    if (
        term.low in _EVERYDAY
        and term.text == term.low
        and sheet.low(place - 1) not in ("on", "over", "在", "dataset", "the", "and", "for", ",")
    ):
        return None
    return "model" if model is not None else "dataset"


def _with_tail(sheet: Sheet, place: int, kind: Kind | None) -> int:
    """`GPT-2 small`, `Llama 2 7B`, `SQuAD v2`, `Vision Transformer`."""
    end = place + 1
    while end - place < 4 and sheet.free(end) and sheet.spaced(end):
        term, before = sheet.terms[end], sheet.terms[end - 1]
        size = ((term.kind == "word" or term.kind == "number") and bool(_SIZES.match(term.text))) or (
            term.low in ADJECTIVES and kind != "dataset"
        )
        if size and not _begins_phrase(sheet, end):
            end += 1
        elif (
            term.kind == "number"
            and not term.wordy
            and isinstance(term.value, int)
            and kind is not None
            and not _counts(sheet, end)
            and term.value < 3000
        ):
            end += 1
        elif (
            _capital(sheet, end)
            and (_capital(sheet, end - 1) or kind is None)
            and term.kind == "word"
            and (kind != "dataset" or before.kind == "word")
            and not re.search(r"\d", before.text)
            and kind is None
        ):
            end += 1
        elif kind == "model" and _known(sheet, end) == "model" and (term.text[:1].isupper() or before.text.islower()):
            end += 1
        else:
            break
    return end


def _begins_phrase(sheet: Sheet, place: int) -> bool:
    """A word of size that belongs to what follows: `… base lr`, `large ViT`."""
    return sheet.is_a(place + 1, "setting") or (sheet.low(place) in ADJECTIVES and _known(sheet, place + 1) == "model")


def _counts(sheet: Sheet, place: int) -> bool:
    """Whether the number counts what follows it."""
    after = place + 1
    return (
        sheet.is_a(after, "unit", "setting", "gpu", "cross", "to")
        or sheet.low(after) in ("-", "%")
        or sheet.terms[place].end - sheet.terms[place].start > 4
    )


def _capital(sheet: Sheet, place: int) -> bool:
    return sheet.kind(place) in ("word", "model", "dataset") and sheet.terms[place].text[:1].isupper()


def _looks(sheet: Sheet, place: int) -> bool:
    """A word that is written like a name: with digits, inner capitals, or a capital inside a sentence."""
    if sheet.kind(place) != "word":
        return False
    text = sheet.terms[place].text
    if (
        len(text) < 2
        or re.fullmatch(r"v\d+(?:\.\d+)?|\d+(?:st|nd|rd|th|m|s)|q\d|[a-z]'\w+|@\S+", text.lower())
        or "'" in text
    ):
        return False
    if re.search(r"\d", text) or re.search(r"[A-Z]", text[1:]) or "_" in text:
        return True
    return (
        text[:1].isupper()
        and place > 0
        and sheet.low(place - 1) not in (".", "!", "?", ";", ":")
        and not text.isspace()
    )


def _stands(sheet: Sheet, place: int) -> bool:
    """A plain word where only a name makes sense: after a verb of comparing, after “on”, or joined to such a word."""
    if sheet.kind(place) != "word" or len(sheet.terms[place].text) < 2:
        return False
    adverb = sheet.terms[place].low.endswith(("ly", "ing", "ed")) and sheet.low(place - 1) not in _DATA_PLACES
    if "'" in sheet.terms[place].text or adverb:
        return False
    if sheet.terms[place].low in _level_words() or sheet.terms[place].low in ADJECTIVES:
        return False
    at = place - 1
    while sheet.low(at) in _ARTICLES or sheet.low(at) in ("'", '"'):
        at -= 1
    before = sheet.low(at)
    if (
        before in ("for", "with")
        and sheet.kind(place + 1) in ("word", "common")
        and sheet.low(place + 1) not in _DATA_PLACES
        and sheet.terms[place].text.islower()
    ):
        return (
            sheet.low(place + 1) in ("with", "at", "in", "using", "for")
            or sheet.terms[place].end - sheet.terms[place].start < 4
        )
    if at < 0:
        return False
    if (
        sheet.terms[at].is_a("verb")
        or before in _DATA_PLACES
        or before in ("for", "with", "vs", "versus", "vs.", "在", "用")
        or sheet.terms[at].is_a("modelkey")
        or sheet.terms[at].is_a("datakey")
    ):
        return True
    after_data = sheet.low(place + 1) in _DATA_WORDS
    joined = sheet.terms[at].is_a("sep") and at > 0 and sheet.terms[at - 1].kind in ("word", "model", "dataset")
    ends = (
        place + 1 >= len(sheet)
        or sheet.is_a(place + 1, "sep", "common", "sign", "deadline", "join")
        or sheet.low(place + 1) in (";", ".", ",", "在", "on", "with", "上")
    )
    return after_data or (joined and ends)


@cache
def _level_words() -> frozenset[str]:
    return frozenset(word for levels in LEVELS.values() for level in levels for word in level.split())


def _settled(sheet: Sheet, names: list[Name]) -> list[Kind]:
    """What each name is: as known, else by its place, else like its neighbour in a list."""
    kinds: list[Kind | None] = [name.kind or _by_place(sheet, name) for name in names]
    for index, name in enumerate(names):
        if kinds[index] is None and index and _listed(sheet, names[index - 1].end, name.start):
            kinds[index] = _like_neighbour(sheet, kinds, index, names)
    for index in range(len(names) - 2, -1, -1):
        if (
            kinds[index] is None
            and kinds[index + 1] is not None
            and _listed(sheet, names[index].end, names[index + 1].start)
        ):
            kinds[index] = kinds[index + 1]
    return [kind or "model" for kind in kinds]


def _like_neighbour(sheet: Sheet, kinds: list[Kind | None], index: int, names: list[Name]) -> Kind | None:
    """Of the kind of the name before it in the list; but a bare `mnist, lenet` names one of each."""
    alone = "model" not in kinds and not _by_place(sheet, names[index - 1])
    return "model" if alone and kinds[index - 1] == "dataset" else kinds[index - 1]


def _by_place(sheet: Sheet, name: Name) -> Kind | None:
    before, after = name.start - 1, name.end
    if sheet.low(after) in _DATA_WORDS or (
        sheet.low(after) in ("上", "上的", "上面", "中", "里") and _after_zai(sheet, name.start)
    ):
        return "dataset"
    if sheet.low(after) in ("模型", "model", "models", "network", "backbone"):
        return "model"
    while sheet.low(before) in _ARTICLES or sheet.low(before) in (
        "'",
        '"',
        ":",
        "=",
        "is",
        "为",
        "是",
        "[",
        "(",
        "{",
        "are",
        "用",
    ):
        if sheet.terms[before].is_a("verb"):
            break
        before -= 1
    term = sheet.terms[before] if before >= 0 else None
    if term is None:
        return None
    if term.is_a("modelkey"):
        return "model"
    if (
        term.is_a("datakey")
        or term.low in _DATA_PLACES
        or (term.low == "在" and sheet.low(after) in ("上", "中", "里"))
    ):
        return "dataset"
    if term.is_a("verb") or term.low in _MODEL_PLACES - {"and"}:
        return "model"
    return None


def _after_zai(sheet: Sheet, start: int) -> bool:
    return any(sheet.low(at) == "在" for at in range(max(0, start - 10), start))


def _listed(sheet: Sheet, start: int, end: int) -> bool:
    """Whether only separators stand between."""
    between = range(start, end)
    return (
        0 < len(between) <= 3
        and any(sheet.terms[at].is_a("sep") for at in between)
        and all(sheet.terms[at].is_a("sep") or sheet.low(at) in _ARTICLES for at in between)
    )


def _elided(sheet: Sheet, at: int, text: str) -> tuple[list[str], int]:
    """`ResNet-18, 34 and 50`: what follows names the same family again by its number; and where that ends."""
    match = _ELISION.match(text) if len(text) < 60 else None
    found: list[str] = []
    if match is None or not match[1]:
        return found, at
    while True:
        seps = 0
        while sheet.is_a(at + seps, "sep") and seps < 2:
            seps += 1
        if sheet.low(at + seps) == "-" and sheet.free(at + seps):
            seps += 1
        piece = sheet.terms[at + seps] if seps and sheet.free(at + seps) else None
        if piece is None or not _same_shape(match[2], piece.text) or _counts(sheet, at + seps):
            return found, at
        found.append(match[1] + piece.text)
        at += seps + 1


def _same_shape(one: str, other: str) -> bool:
    if one.isdigit():
        return other.isdigit() and len(other) <= 4
    if not (other.isascii() and other.isalnum()):
        return False
    if len(one) == 1:
        return len(other) == 1 and other.isalpha() and other.isupper() == one.isupper() and other in "sSmMlLbBtTnxXhH"
    return len(other) <= 3 and one[:1].lower() == other[:1].lower() and other[1:].isdigit()
