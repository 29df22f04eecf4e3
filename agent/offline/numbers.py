"""Numbers as people write them: literals, words, lists, and what a range means."""

import math
import re
from dataclasses import dataclass

from agent.offline.lexicon import Scale

Number = int | float

# A number stands alone: not inside a name such as ResNet-18 or gpt2, and not before a unit that makes it another thing.
LITERAL = (
    r"(?<![A-Za-z0-9_.])(?<![A-Za-z]-)[-+]?(?:\d{1,3}(?:,000)+|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
    r"(?:[kK%](?![A-Za-z]))?"
)
_COUNTED = (
    r"(?!\s*[-x×*]?\s*(?:random\s+|different\s+|gpu[- ]|v100|a100|h100)?"
    r"(?:epochs?|seeds?|gpus?|trials?|runs?|repeats?|repetitions?|times|hours?|hrs?|h\b|days?|minutes?|nodes?|cpus?|gb\b|gib\b"
    r"|[ahv]\d00|rtx|t4|l40|轮|个随机|个种子|种子|张|块卡|次|遍|小时|天))"
)
ATOM = rf"(?:{LITERAL})(?:px|ms)?(?![A-Za-z0-9_]|\.\d|-[A-Za-z]){_COUNTED}"
SEPARATOR = (
    r"(?:\s*(?:,\s*(?:and|or|&|和|与)\s+|,|、|;(?=\s*[-+.\d])|/|\||\bvs\.?(?![a-z])|\bversus\b|\band\b|\bor\b|\bn\b"
    r"|&|和|与|或|以及|及|跟)\s*|\s+(?=[-+.\d]))"
)
LIST = rf"[\[({{]?\s*{ATOM}(?:{SEPARATOR}{ATOM})*\s*[\])}}]?"
_TO = r"(?:down\s+to|up\s+to|through|thru|until|to|->|→|\.\.+|~|–|—|到|至|-)"
_HIGH = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?[kK%]?(?![A-Za-z0-9_]|\.\d)"
_RANGES = (
    re.compile(
        rf"(?:in\s+|over\s+)?(?:between\s+|在\s*)({LITERAL})\s*(?:and|&|和|与|到|至|to|-)\s*({_HIGH})\s*(?:之间)?"
    ),
    re.compile(rf"(?:from\s+|over\s+|从|由)?[\[(]?\s*({LITERAL})\s*{_TO}\s*({_HIGH})\s*[\])]?(?:之间)?"),
    re.compile(rf"(?:in|∈|over)\s*[\[(]\s*({LITERAL})\s*,\s*({_HIGH})\s*[\])]"),
)
STEP = re.compile(
    rf"\s*,?\s*[(]?(?:in|with|by|at)?\s*(?:a\s+)?(?:steps?|increments?|stride|步长|间隔)\s*(?:size\s*)?(?:of|为|是|=|:)?\s*({LITERAL})[)]?"
)
VALUES = re.compile(
    r"\s*,?\s*[(]?(?:with|using|in|取|共)?\s*(\d+|[a-z]+|[两二三四五六七八九十])\s*"
    r"(?:(?:log[- ]?|evenly[- ])spaced\s+)?(?:values|points|levels|samples|(?<=spaced )steps|个值|个点|档)[)]?(?:\s*(?:on\s+a\s+|in\s+)?log(?:arithmic)?[- ]?(?:scale|space))?"
)

VALUES_ANYWHERE = re.compile(
    r"(?<![\w.])(\d+)\s*(?:different\s+)?(?:(?:log[- ]?|evenly[- ])(?:spaced|scale[d]?)\s+)?(?:values|points|levels|(?<=spaced )steps|个值|个点|档)(?![a-z])"
    r"(?:\s*(?:on\s+a\s+|in\s+)?log(?:arithmic)?[- ]?(?:scale|space))?"
)

_WORDS = {
    "one": 1,
    "a": 1,
    "an": 1,
    "single": 1,
    "two": 2,
    "couple": 2,
    "both": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "dozen": 12,
    "fifteen": 15,
    "sixteen": 16,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
    "half": 0.5,
}
_CHINESE = {
    "零": 0,
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "俩": 2,
    "仨": 3,
}
WORD_NUMBER = (
    r"(?:\d+(?:\.\d+)?|(?<![a-z])(?:an?|one|single|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|"
    r"sixteen|twenty|thirty|forty|fifty|sixty|hundred|(?:a\s+|half\s+a\s+)?dozen|(?:a\s+)?couple(?:\s+of)?)(?![a-z])"
    r"|[一两二三四五六七八九十百]+)"
)


@dataclass(frozen=True)
class Span:
    """A range as written: its two ends, and where it stands in the text."""

    low: Number
    high: Number
    start: int
    end: int


def range_at(text: str, place: int) -> Span | None:
    """The range that begins at `place`."""
    found = (pattern.match(text, place) for pattern in _RANGES)
    return next((_span(match) for match in found if match is not None), None)


def range_in(text: str) -> Span | None:
    """The first range in the text."""
    spans = [_span(match) for pattern in _RANGES if (match := pattern.search(text)) is not None]
    return min(spans, key=lambda span: span.start) if spans else None


def _span(match: re.Match[str]) -> Span:
    return Span(parse_number(match[1]), parse_number(match[2]), match.start(), match.end())


def parse_number(text: str) -> Number:
    """The value of a literal: `1e-3`, `.5`, `10k`, `50%`, `1,024`. Whole ones without a point are ints."""
    text = text.strip().replace(",", "")
    factor = 1.0
    if text[-1] in "kK":
        text, factor = text[:-1], 1000.0
    elif text[-1] == "%":
        text, factor = text[:-1], 0.01
    whole = re.fullmatch(r"[-+]?\d+", text) is not None
    value = float(text) * factor
    if not math.isfinite(value):
        return 0
    return round(value) if (whole and factor >= 1) or (factor == 1000.0 and value == int(value)) else _clean(value)


def count_of(text: str) -> Number | None:
    """A count in digits or words of either language; `None` when it is no number."""
    text = re.sub(r"\s+of$", "", text.strip().casefold())
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return parse_number(text)
    if text.startswith("half a dozen"):
        return 6
    parts = [_WORDS[word] for word in re.findall(r"[a-z]+", text) if word in _WORDS and word not in ("a", "an")]
    if parts:
        return parts[-1]
    if text in ("a", "an"):
        return 1
    return _chinese(text)


def _chinese(text: str) -> int | None:
    if not text or any(c not in _CHINESE and c not in "十百" for c in text):
        return None
    total, digit = 0, 0
    for c in text:
        if c in "十百":
            total += (digit or 1) * (10 if c == "十" else 100)
            digit = 0
        else:
            digit = _CHINESE[c]
    return total + digit


def atoms(text: str) -> list[Number]:
    """The numbers of a list, in order, without repeats."""
    found = [parse_number(match[0]) for match in re.finditer(LITERAL, text)]
    return list(dict.fromkeys(found))


def expand(
    scale: Scale, low: Number, high: Number, step: Number | None = None, count: int | None = None
) -> list[Number]:
    """The levels that a range is meant to have, in the order in which it was written.

    Decades for what is searched on a logarithm, powers of two for sizes, whole or even steps for the rest.
    """
    first, last = min(low, high), max(low, high)
    if step is not None and step > 0:
        levels = _stepped(first, last, step)
    elif count is not None and count > 1:
        levels = _spaced(scale, first, last, count)
    elif scale == "decades":
        levels = _powers(first, last, 10)
    elif scale == "powers" and first > 0:
        levels = _powers(first, last, 2)
    else:
        levels = _stepped(first, last, _even_step(first, last))
    return levels if low <= high else levels[::-1]


def _powers(first: Number, last: Number, base: int) -> list[Number]:
    if first <= 0:
        return [first, last]
    levels: list[Number] = []
    value: float = first
    while value <= last * (1 + 1e-9) and len(levels) < 64:
        levels.append(_like(value, first, last))
        value *= base
    if not math.isclose(levels[-1], last, rel_tol=1e-6):
        levels.append(last)
    return levels


def _stepped(first: Number, last: Number, step: Number) -> list[Number]:
    count = min(int((last - first) / step + 1e-9) + 1, 200)
    return [_like(first + step * place, first, last, step) for place in range(count)]


def _spaced(scale: Scale, first: Number, last: Number, count: int) -> list[Number]:
    count = min(count, 200)
    if scale in ("decades", "powers") and first > 0:
        ratio = (last / first) ** (1 / (count - 1))
        return [_like(_clean(first * ratio**place), first, last) for place in range(count)]
    return [_like(first + (last - first) * place / (count - 1), first, last) for place in range(count)]


def _even_step(first: Number, last: Number) -> Number:
    span = last - first
    if span <= 0:
        return 1
    whole = isinstance(first, int) and isinstance(last, int)
    if whole and span <= 10:
        return 1
    for step in (0.01, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 5000, 10_000):
        steps = span / step
        if steps <= 6.01 and math.isclose(steps, round(steps), abs_tol=1e-6) and (not whole or step >= 1):
            return step
    return span


def _like(value: float, *others: Number) -> Number:
    """An int where all that it came from are ints and it is whole."""
    if all(isinstance(other, int) for other in others) and math.isclose(value, round(value), abs_tol=1e-9):
        return round(value)
    return _clean(value)


def _clean(value: float) -> float:
    return float(f"{value:.6g}")
