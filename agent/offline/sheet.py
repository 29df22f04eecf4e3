"""The message as a row of terms: known phrases are one term each, and what has been read is marked as used."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from agent.offline.grammarwords import grammar_rows
from agent.offline.lexer import Number, Token, lex
from agent.offline.lexicon import BARE, GPUS, LEVELS, metrics_table, names_in, settings_table
from agent.offline.model import Vocabulary
from agent.offline.spelling import corrected

_LONGEST = 9
_TAIL = re.compile(r"[-_.]|v?\d|(?:tiny|small|base|large|huge|medium|mini|nano|xl|xxl|x?[stblhg])\d*$")
_JOINER = frozenset("-/&+,|、.{}@=")


@dataclass(frozen=True)
class Meaning:
    """What a phrase can stand for, in each of its roles: kind and name."""

    roles: tuple[tuple[str, str], ...]

    def name(self, kind: str) -> str | None:
        return next((name for role, name in self.roles if role == kind), None)


@dataclass(frozen=True)
class Term:
    """One unit of the message. `kind` is the first role: number, setting, unit, sep, …, name, word, han or sign."""

    kind: str
    name: str
    text: str
    start: int
    end: int
    meaning: Meaning = field(default=Meaning(()), repr=False)
    value: Number | None = None
    wordy: bool = False

    @property
    def low(self) -> str:
        return self.text.lower()

    def is_a(self, kind: str) -> bool:
        return self.kind == kind or self.meaning.name(kind) is not None

    def as_a(self, kind: str) -> str | None:
        """The name that the term has in a role."""
        return self.name if self.kind == kind else self.meaning.name(kind)


class Sheet:
    """The terms of a message; each is read once."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = text
        self.terms = terms_of(text, vocabulary)
        self.used = [False] * len(self.terms)

    def __len__(self) -> int:
        return len(self.terms)

    def free(self, place: int) -> bool:
        return 0 <= place < len(self.terms) and not self.used[place]

    def take(self, start: int, end: int) -> None:
        for place in range(start, end):
            self.used[place] = True

    def kind(self, place: int) -> str:
        """The kind of the unread term there, `""` where there is none."""
        return self.terms[place].kind if self.free(place) else ""

    def low(self, place: int) -> str:
        return self.terms[place].low if 0 <= place < len(self.terms) else ""

    def is_a(self, place: int, *kinds: str) -> bool:
        return self.free(place) and any(self.terms[place].is_a(kind) for kind in kinds)

    def said(self, start: int, end: int) -> str:
        """The text from one term up to another, as written."""
        return self.text[self.terms[start].start : self.terms[end - 1].end] if end > start else ""

    def spaced(self, place: int) -> bool:
        """Whether a blank stands before the term."""
        return place > 0 and self.terms[place].start > self.terms[place - 1].end


def key_of(text: str) -> str:
    """A phrase without case, blanks, `-` and `_`."""
    return re.sub(r"[\s\-_]+", "", text.lower())


def terms_of(text: str, vocabulary: Vocabulary) -> list[Term]:
    """Cut the text into terms: the longest known phrase at each place, else a single token."""
    words = dictionary(vocabulary)
    tokens = [_respelt(token, words) for token in lex(text)]
    terms: list[Term] = []
    place = 0
    while place < len(tokens):
        end, meaning = _phrase(tokens, place, words)
        terms.append(_term(text, tokens, place, end, meaning, vocabulary))
        place = end
    return terms


def _respelt(token: Token, words: dict[str, Meaning]) -> Token:
    """The token, or the word that it misspells; places on the text stay as they are."""
    if token.kind != "word" or token.text != token.low:
        return token
    word = corrected(token.low, token.low in words)
    return token if word is None else replace(token, text=word)


def _phrase(tokens: Sequence[Token], place: int, words: dict[str, Meaning]) -> tuple[int, Meaning | None]:
    """The end and the meaning of the longest known phrase that begins at `place`."""
    key, best = "", (place + 1, None)
    if tokens[place].text == "A":
        return best
    for end in range(place, min(place + _LONGEST, len(tokens))):
        token = tokens[end]
        if end > place and token.kind == "punct" and token.text not in _JOINER and token.low != "x":
            break
        key += "" if token.text in "-_" and end > place else key_of(token.text) or token.text
        meaning = words.get(key)
        if (
            meaning is not None
            and not (token.kind == "number" and end == place)
            and not _owns_more(tokens, place, end, meaning, words)
        ):
            best = (end + 1, meaning)
    return best


def _owns_more(tokens: Sequence[Token], place: int, end: int, meaning: Meaning, words: dict[str, Meaning]) -> bool:
    """`SGD with momentum 0.9`: the last word has a number of its own, so it is no part of the level."""
    if end == place or meaning.roles[0][0] != "level" or end + 1 >= len(tokens):
        return False
    last = words.get(key_of(tokens[end].text))
    return last is not None and last.name("setting") is not None and tokens[end + 1].kind == "number"


def _term(
    text: str, tokens: Sequence[Token], place: int, end: int, meaning: Meaning | None, vocabulary: Vocabulary
) -> Term:
    first, last = tokens[place], tokens[end - 1]
    said = text[first.start : last.end]
    if meaning is not None:
        kind, name = meaning.roles[0]
        return Term(kind, name, said, first.start, last.end, meaning)
    if first.kind == "number":
        return Term("number", "", said, first.start, first.end, value=first.value, wordy=first.wordy)
    if first.kind == "word":
        kind = _family(first.low, vocabulary)
        if kind is not None:
            return Term(kind, said, said, first.start, first.end)
        said = first.text if first.text != first.low else said
    kinds = {"word": "word", "han": "han", "punct": "sign"}
    return Term(kinds[first.kind], said, said, first.start, first.end)


@lru_cache(maxsize=4096)
def _family(low: str, vocabulary: Vocabulary) -> str | None:
    """What a name that begins with a known family's name (`llama7b`, `resnet50-d`, `imagenet-v2`) stands for."""
    words = dictionary(vocabulary)
    for length in range(min(len(low) - 1, 40), 1, -1):
        meaning = words.get(key_of(low[:length]))
        kind = next((role for role, _n in meaning.roles if role in ("model", "dataset")), None) if meaning else None
        if (
            kind is not None
            and _TAIL.match(low[length:])
            and low[length - 1] not in "-_"
            and (length > 2 or low[length] in "-_" or low[length - 1].isdigit())
        ):
            return kind
    return None


@lru_cache(maxsize=16)
def dictionary(vocabulary: Vocabulary) -> dict[str, Meaning]:
    """Every known phrase by its key."""
    roles: dict[str, list[tuple[str, str]]] = {}

    def add(kind: str, name: str, phrases: Sequence[str]) -> None:
        for phrase in phrases:
            roles.setdefault(key_of(phrase) or phrase, []).append((kind, name))

    for kind, name, phrases in _entries(vocabulary):
        add(kind, name, phrases)
    add("common", "", [word for word in names_in("common_words.txt") if key_of(word) not in roles])
    return {key: Meaning(tuple(dict.fromkeys(found))) for key, found in roles.items()}


def _entries(vocabulary: Vocabulary) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Kind, name and phrases of all that is known; what comes first is a phrase's first role."""
    yield from grammar_rows()
    for name in vocabulary.settings:
        if key_of(name) not in ("model", "dataset", "seed", "data"):
            yield "setting", name, (name,)
    yield from (("setting", word.name, word.aliases) for word in settings_table())
    yield from (("gpu", gpu, (gpu, f"{gpu}s", f"nvidia {gpu}", f"nvidia {gpu}s")) for gpu in GPUS)
    yield from (("model", name, (name,)) for name in vocabulary.models)
    yield from (("dataset", name, (name,)) for name in vocabulary.datasets)
    yield from (("level", setting, LEVELS[setting]) for setting in BARE)
    yield from (("metric", name, aliases) for name, aliases in metrics_table())
    yield from (("metric", name, (name,)) for name in vocabulary.metrics)
    yield "modelkey", "model", _MODEL_KEYS
    yield "datakey", "dataset", _DATA_KEYS
    yield "model", "", names_in("models.txt")
    yield "dataset", "", names_in("datasets.txt")


_MODEL_KEYS = (
    "model|models|backbone|backbones|architecture|architectures|arch|archs|network|networks|net|nets|encoder|encoders"
    "|model name|模型|骨干网络|骨干|主干网络|架构|网络|基础模型|模型用|模型为|base model|base models"
).split("|")
_DATA_KEYS = "dataset|datasets|data|data set|data sets|corpus|数据集|数据|语料|dataset name|benchmark|task|tasks|任务|benchmarks".split(
    "|"
)
