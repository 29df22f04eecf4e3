"""Settings with their levels: `lr 1e-3 and 1e-4`, `batch size from 64 to 256`, `50 epochs`, `with and without EMA`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from agent.offline.lexicon import (
    ACTIVATIONS,
    COUNTED,
    OPTIMIZERS,
    PRECISIONS,
    SCHEDULERS,
    SETTINGS,
    Scale,
    SettingWord,
)
from agent.offline.numbers import (
    ATOM,
    LIST,
    SEPARATOR,
    STEP,
    VALUES,
    VALUES_ANYWHERE,
    Span,
    atoms,
    count_of,
    expand,
    parse_number,
    range_at,
    range_in,
)
from agent.offline.text import GONE, Page

_JOIN = (
    r"(?:\s*(?:=|:|==)\s*|\s*\b(?:of|is|are|in|at|as|being|values?|set|to|with|ranging|varied|sweep|swept|over|among|should"
    r"|be|either|like|越|try|both|levels?|options?|cells)\b\s*|\s*(?:分别|各|设为|设置为|设成|改成|为|是|取|用|选|测试|试|在)\s*|\s+|['\"(])*"
)
_WORD = r"[A-Za-z][A-Za-z0-9+.]*(?:[-_+][A-Za-z0-9]+)*(?:/\d+)?"
_STOP = (
    r"(?:on|with|for|using|at|by|in|to|from|of|the|a|an|is|are|as|each|per|run|runs|over|under|and|or|then|but|please|it|we"
    r"|train|compare|report|help|helps|matter|matters|sweep|use|sizes?|rates?|seeds?|epochs?|gpus?|vs|versus)"
)
_ON_OFF = (
    re.compile(
        r"\b(?:with\s*(?:and|or|/|vs\.?)\s*(?:w/o|without)|w/\s*(?:and|or|&|/|vs\.?)\s*w/o)\s+(?:an?\s+|the\s+)?"
        r"(?P<what>[^,;.!?\x00]{2,40}?)(?=\s+(?:on|for|in|with|using|at|over|and\s+\w+\s+\d)\b|[,;.!?\x00]|\)|$)"
    ),
    re.compile(
        r"\b(?:turn(?:ing)?|toggle|toggling|switch(?:ing)?)\s+(?P<what>[^,;.!?\x00]{2,30}?)\s+on\s*(?:and|/|or|vs\.?)\s*off\b"
    ),
    re.compile(
        r"(?P<what>[a-z][\w -]{1,30}?)\s*(?:=|:|in|is)?\s*[\[({]?(?:on\s*(?:/|\||,|and|or|vs\.?)\s*off|off\s*(?:/|\||,|and|or|vs\.?)\s*on"
        r"|true\s*(?:/|\||,|and|or|vs\.?)\s*false|false\s*(?:/|\||,|and|or|vs\.?)\s*true|yes\s*/\s*no)\b[\])}]?"
    ),
    re.compile(
        r"\b(?:enabl(?:e|ed|ing)\s*(?:/|and|or|vs\.?)\s*disabl(?:e|ed|ing))\s+(?P<what>[^,;.!?\x00]{2,30}?)"
        r"(?=\s+(?:on|for|in|with)\b|[,;.!?\x00]|$)"
    ),
    re.compile(
        r"(?:有无|有没有|是否使用|是否用|是否开启|是否加|用不用|加不加|开不开|使用和不使用|用和不用|开启和关闭|打开和关闭|开/关)\s*"
        r"(?P<what>[a-z][a-z0-9 -]{1,30}|[\u4e00-\u9fff]{2,8}?(?=[,;.?!的]|对|在|$|和|\s))"
    ),
    re.compile(
        r"(?P<what>[a-z][a-z0-9 -]{1,30}|(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{2,8}?)\s*(?:的)?(?:开和关|开关|开启和关闭|打开和关闭|开与关|开/关|on和off)"
    ),
)
_PAIRED = (
    re.compile(
        r"(?:去掉|去除|不用|不使用|关闭|不加|没有)\s*(?P<what>[a-z][a-z0-9 -]{1,30}?|[\u4e00-\u9fff]{2,8}?)\s*(?:、|和|与|,|vs|对比)\s*(?:保留|使用|用|开启|加上|加|有)\s*(?:(?P=what)|它)?"
    ),
    re.compile(
        r"(?:保留|使用|开启|加上|加|有)\s*(?P<what>[a-z][a-z0-9 -]{1,30}?|[\u4e00-\u9fff]{2,8}?)\s*(?:、|和|与|,|vs|对比)\s*(?:去掉|去除|不用|不使用|关闭|不加|没有|无)\s*(?:(?P=what)|它)"
    ),
    re.compile(
        r"\b(?:no|without|w/o)\s+(?P<what>[a-z][a-z0-9 -]{1,30}?)\s*(?:,|vs\.?|versus|and|or|/)\s*(?:with\s+|w/\s*)?(?P=what)(?![a-z0-9])"
    ),
    re.compile(
        r"\b(?:with\s+|w/\s*)?(?P<what>[a-z][a-z0-9 -]{1,30}?)\s*(?:,|vs\.?|versus|and|or|/)\s*(?:no|without|w/o)\s+(?:it(?![a-z])|(?P=what)(?![a-z0-9]))"
    ),
    re.compile(r"(?P<what>[a-z][a-z0-9 -]{1,30}?)\s+enabled\s*(?:,|vs\.?|versus|and|or|/)\s*disabled"),
)
"""The same setting named twice, once with and once without it."""
_BARE: Sequence[tuple[str, tuple[str, ...]]] = (
    ("optimizer", OPTIMIZERS),
    ("precision", PRECISIONS),
)
_UNKNOWN = re.compile(
    rf"(?<![A-Za-z0-9_\x00-])(?P<name>[A-Za-z][A-Za-z0-9_-]{{1,29}})(?:\s*(?:=|:|in|∈)\s*|\s+)(?P<list>{LIST})"
)
_UNKNOWN_STOP = re.compile(
    r"(?:and|or|with|for|on|in|at|to|from|than|most|least|over|under|of|run|runs|plan|the|try|top|about|only|use|using|is|are"
    r"|job|experiment|version|next|last|first|per|between|within|by|need|until|compare|train|test|budget|limit|vs|model|models"
    r"|dataset|datasets|cells|gpu|gpus|seed|seeds|line|lines|than|drops?|falls?|below|above|exceeds?|reaches|max|min|maximum)"
)

_AGAINST = re.compile(
    rf"\s*(?:[a-z]+\s+){{0,3}}(?:vs\.?|versus|compared\s+(?:to|with)|against|rather\s+than|instead\s+of|还是|或者)\s*{ATOM}"
)
"""A last level after a few words: `dropout of 0.1 help compared to 0`."""
_SHY = ("loss", "activation", "scheduler", "pooling", "normalization")
"""Words of everyday use: they are settings only where a list or a known level follows."""


@dataclass
class Found:
    """Levels and search intervals by setting, in the order found."""

    factors: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    spans: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    loose: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, name: str, levels: Sequence[Any]) -> None:
        kept = self.factors.setdefault(name, [])
        kept += [level for level in levels if level not in kept]


def read_settings(page: Page, known: Sequence[str] = ()) -> Found:
    """Everything on the page that sets a setting; it is crossed off. `known` are the recipes' own setting names."""
    found = Found()
    _read_switches(page, found)
    for match, word in _aliases(page, known):
        if GONE not in page.left[match[0] : match[1]]:
            _read_alias(page, found, match, word)
    _read_bare(page, found)
    _read_unknown(page, found)
    _give_orphans(page, found)
    return found


def _aliases(page: Page, known: Sequence[str]) -> Iterator[tuple[tuple[int, int], SettingWord]]:
    """The places where a setting is named, longest alias first at each place, from left to right."""
    pattern, words = _alias_pattern(tuple(known))
    for match in pattern.finditer(page.lower):
        yield match.span(), words[_key(match[0])]


@cache
def _alias_pattern(known: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, SettingWord]]:
    words: dict[str, SettingWord] = {}
    for word in SETTINGS:
        for alias in word.aliases:
            words.setdefault(_key(alias), word)
    for name in known:
        words.setdefault(_key(name), SettingWord(name, "linear", (name,)))
    for name in ("model", "dataset", "seed", "data", "loss"):
        words.pop(name, None)
    parts = sorted(words, key=len, reverse=True)
    latin = "|".join(re.escape(part).replace(r"\ ", r"[\s_-]+") for part in parts if part.isascii())
    other = "|".join(re.escape(part) for part in parts if not part.isascii())
    return re.compile(rf"(?<![a-z0-9_])(?:{latin})(?![a-z0-9_]|-[a-z0-9])|{other}"), words


def _key(alias: str) -> str:
    return re.sub(r"[\s_-]+", " ", alias.lower())


def _read_alias(page: Page, found: Found, span: tuple[int, int], word: SettingWord) -> None:
    if _levels_right(page, found, span, word) or _levels_left(page, found, span, word):
        return
    found.loose.append((span[0], word.name))


def _levels_right(page: Page, found: Found, span: tuple[int, int], word: SettingWord) -> bool:
    text = page.lower
    start = span[1]
    joined = re.compile(_JOIN).match(text, start)
    after = joined.end() if joined else start
    if word.scale in ("words",):
        return _words_right(page, found, span, after, word)
    ranged = range_at(text, after) or range_at(text, start) or _range_after_join(text, start, after)
    if ranged is not None and not re.match(r"\s*(?:%\s*)?(?:gpu|hours|seeds)", text[ranged.end :]):
        _take_range(page, found, span[0], word, ranged)
        return True
    listed = re.compile(LIST).match(text, after)
    if listed is None:
        return False
    end = _without_last_counted(text, listed)
    if end is None:
        return False
    against = _AGAINST.match(text, end)
    if against is not None:
        end = against.end()
    found.add(word.name, atoms(text[after:end]))
    page.cross_off(span[0], end)
    return True


def _range_after_join(text: str, start: int, after: int) -> Span | None:
    """The words that open a range (`between`, `in`, `从`) may have been taken for words that join."""
    found = range_in(text[start : after + 40])
    if found is None or start + found.end <= after or start + found.start > after:
        return None
    return Span(found.low, found.high, start + found.start, start + found.end)


def _without_last_counted(text: str, listed: re.Match[str]) -> int | None:
    """The end of the list, less a last number that belongs to the word after it (`…, 50 epochs`)."""
    counted = "|".join(re.escape(a) for w in SETTINGS if w.name in COUNTED for a in w.aliases if len(a) > 1)
    if not re.match(rf"\s*-?\s*(?:{counted})(?![a-z])", text[listed.end() :]):
        return listed.end()
    cut = list(re.finditer(SEPARATOR, listed[0]))
    return listed.start() + cut[-1].start() if cut else None


def _take_range(page: Page, found: Found, start: int, word: SettingWord, span: Span) -> None:
    low, high, end = span.low, span.high, span.end
    step = STEP.match(page.lower, end)
    count = (VALUES.match(page.lower, end) or VALUES_ANYWHERE.search(page.lower, end)) if step is None else None
    number = count_of(count[1]) if count is not None else None
    if step is not None:
        end = step.end()
    elif count is not None and number is not None:
        page.cross_off(*count.span())
    by = parse_number(step[1]) if step is not None else None
    found.add(word.name, expand(_scale(word, low, high), low, high, by, int(number) if number else None))
    if low != high:
        found.spans[word.name] = (min(low, high), max(low, high))
    page.cross_off(start, end)


def _scale(word: SettingWord, low: float, high: float) -> Scale:
    if word.name == "image_size":
        return (
            "powers"
            if low > 0 and (high / low).is_integer() and (int(high / low) & (int(high / low) - 1)) == 0
            else "linear"
        )
    if word.scale == "switch" or word.scale == "words":
        return "linear"
    if word.scale in ("whole", "linear") and low > 0 and high / low >= 100:
        return "decades"
    return word.scale


def _words_right(page: Page, found: Found, span: tuple[int, int], after: int, word: SettingWord) -> bool:
    """A list of names, or of names and numbers: `optimizer adam and sgd`, `数据增强策略A和B`."""
    atom = rf"(?!(?-i:{_STOP})(?![A-Za-z0-9]))(?:{_WORD}|\d+)"
    listed = re.compile(rf"[\[({{]?\s*{atom}(?:{SEPARATOR}{atom})*\s*[\])}}]?", re.IGNORECASE).match(page.left, after)
    if listed is None:
        return False
    levels: list[str] = []
    end = after
    for match in re.finditer(rf"{_WORD}|\d+", listed[0]):
        place = listed.start() + match.start()
        if re.fullmatch(r"and|or|vs|versus|n", match[0], re.IGNORECASE):
            continue
        if levels and _alias_pattern(())[0].match(page.lower, place):
            break
        levels.append(match[0])
        end = listed.start() + match.end()
    if word.name in _SHY and not _are_levels(page, span, levels):
        return False
    found.add(word.name, levels)
    page.cross_off(span[0], end)
    return True


def _are_levels(page: Page, span: tuple[int, int], levels: Sequence[str]) -> bool:
    known = {*SCHEDULERS, *ACTIVATIONS}
    joined = page.left[span[1] : span[1] + 2].strip()[:1] in ("=", ":", "{", "[")
    return joined or len(levels) > 1 or any(level.lower() in known for level in levels)


def _levels_left(page: Page, found: Found, span: tuple[int, int], word: SettingWord) -> bool:
    """Numbers before the name: `50 epochs`, `16, 32 and 64 batch size`, `12-layer`."""
    text = page.lower
    before = re.search(rf"({LIST.replace(_counted_guard(), '')})\s*-?\s*(?:different\s+)?$", text[: span[0]])
    if before is not None and word.scale not in ("words", "switch"):
        found.add(word.name, atoms(before[1]))
        page.cross_off(before.start(1), span[1])
        return True
    if word.scale == "words":
        return _words_left(page, found, span, word)
    return False


def _words_left(page: Page, found: Found, span: tuple[int, int], word: SettingWord) -> bool:
    """Known names before the setting: `cosine and linear schedules`, `relu vs gelu activation`."""
    known = {"scheduler": SCHEDULERS, "activation": ACTIVATIONS, "optimizer": OPTIMIZERS, "precision": PRECISIONS}.get(
        word.name
    )
    if known is None:
        return False
    atom = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    before = re.search(rf"(?<![a-z0-9-])((?:{atom})(?:{SEPARATOR}(?:{atom}))*)\s+$", page.lower[: span[0]])
    if before is None:
        return False
    found.add(word.name, re.findall(rf"(?<![a-z0-9-])(?:{atom})(?![a-z0-9])", before[1]))
    page.cross_off(before.start(1), span[1])
    return True


def _counted_guard() -> str:
    """The part of a number's pattern that refuses counted things, which is what is looked for here."""
    start = ATOM.index("(?!\\s*[-x")
    return ATOM[start:]


def _read_switches(page: Page, found: Found) -> None:
    for pattern in (*_PAIRED, *_ON_OFF):
        while (match := pattern.search(page.lower)) is not None:
            start, end = match.span("what")
            name, start = _switch_name(page.original(start, end), start)
            if not name:
                page.cross_off(match.start(), match.end())
                continue
            found.add(name, [True, False])
            page.cross_off(min(start, match.start()) if match.start() < match.start("what") else start, match.end())


def _switch_name(text: str, start: int) -> tuple[str, int]:
    """The setting that a phrase names, and where it begins: the longest alias at its end, else its last words."""
    lowered = text.lower().rstrip()
    pattern, words = _alias_pattern(())
    hits = [m for m in pattern.finditer(lowered) if m.end() == len(lowered)]
    if hits:
        return words[_key(hits[0][0])].name, start + hits[0].start()
    tail = re.search(r"(?:[A-Za-z0-9-]+\s+){0,2}[A-Za-z0-9-]+$|[\u4e00-\u9fff]{2,8}$", text.rstrip())
    if tail is None:
        return "", start
    name = re.sub(r"^(?:the|a|an|using|use|try|and|compare|run|test|training|train|it|both)\s+", "", tail[0].lower())
    return re.sub(r"[\s-]+", "_", name.strip()), start + tail.start()


def _read_bare(page: Page, found: Found) -> None:
    """Optimizers and precisions are known by their own names."""
    for name, known in _BARE:
        body = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
        levels: list[str] = []
        for match in re.finditer(rf"(?<![a-z0-9_-])(?:{body})(?![a-z0-9_+]|-[a-z0-9])", page.lower):
            levels.append(page.original(*match.span()))
            page.cross_off(*match.span())
        if levels:
            found.add(name, levels)


def _read_unknown(page: Page, found: Found) -> None:
    """A word that is no known setting but is followed by numbers is a setting under the name written."""
    place = 0
    while (match := _UNKNOWN.search(page.left, place)) is not None:
        place = match.end("name")
        name = match["name"]
        signed = re.match(r"\s*[=:∈]", page.left[match.end("name") :]) is not None
        numbers = atoms(match["list"])
        if re.fullmatch(_UNKNOWN_STOP, name.lower()) or not (signed or len(numbers) > 1):
            continue
        found.add(name, numbers)
        page.cross_off(*match.span())


def _give_orphans(page: Page, found: Found) -> None:
    """A list of numbers that nothing claimed belongs to the nearest setting named before it without levels."""
    for start, name in reversed(found.loose):
        if name in found.factors:
            continue
        word = next((w for w in SETTINGS if w.name == name), None)
        if word is None or word.scale in ("words", "switch"):
            continue
        zone = page.lower[start : start + 120]
        ranged, listed = range_in(zone), re.search(LIST, zone)
        if ranged is not None and (listed is None or ranged.start <= listed.start()):
            moved = Span(ranged.low, ranged.high, start + ranged.start, start + ranged.end)
            _take_range(page, found, moved.start, word, moved)
        elif listed is not None:
            found.add(name, atoms(listed[0]))
            page.cross_off(start + listed.start(), start + listed.end())
