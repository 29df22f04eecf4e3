"""From plain text to tokens. Every number is read here and nowhere else.

A number stands alone: `18` in `ResNet-18` or `2` in `gpt2` belongs to its word. A Chinese character is a token of its
own; words are made of them by the dictionary. The scanner goes through the text once, whatever the text.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Number = int | float
MOST_TOKENS = 500

_SCAN = re.compile(
    r"(?P<number>(?:\d{1,3}(?:,0\d\d)+(?!\d)|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?(?![\d]))(?P<tail>%|[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z][A-Za-z0-9]*)*)?"
    r"|(?P<word>[^\W\d\u3400-\u9fff][^\W\u3400-\u9fff]*(?:[-.'@&][^\W\u3400-\u9fff]+)*(?:(?<=[-_][A-Za-z])/\d+|\+\+)?)"
    r"|(?P<han>[\u3400-\u9fff])|(?P<punct>->|=>|==|<=|>=|\.\.+|--+|\S)"
)
_MULTIPLES = {"k": 1000, "K": 1000, "M": 1_000_000}
_UNITS = frozenset(
    "h hr hrs hour hours d day days min mins minute minutes s sec w wk week weeks gb gib g tb tib gpu gpus epoch epochs ep"
    " seed seeds step steps trial trials run runs layer layers layered head heads x px ms node nodes cpu cpus core cores"
    " times iters iterations lines line points pts pp pt am pm gpuh gpuhours gpuhrs".split()
)
_DIGITS = {"零": 0, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "俩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_MYRIADS = {"万": 10_000, "千": 1000, "百": 100, "亿": 100_000_000}
_MEASURES = frozenset("个张块次轮天小周星月层种台倍遍组点号行枚卡步位级类分秒头")
_NUMBER_WORDS = {
    name: value
    for value, name in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
    )
} | {
    "single": 1,
    "couple": 2,
    "dozen": 12,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
}


@dataclass(frozen=True)
class Token:
    """One word, number, Chinese character or sign. `wordy` numbers were written in words."""

    kind: Literal["number", "word", "han", "punct"]
    text: str
    start: int
    end: int
    value: Number | None = None
    wordy: bool = False

    @property
    def low(self) -> str:
        return self.text.lower()


def lex(text: str) -> list[Token]:
    """The tokens of a plain text, at most `MOST_TOKENS`."""
    return _spelled(list(_scan(text))[:MOST_TOKENS])


def _scan(text: str) -> Iterator[Token]:
    previous: Token | None = None
    for match in _SCAN.finditer(text):
        for token in _tokens(match, previous):
            yield token
            previous = token


def _tokens(match: re.Match[str], previous: Token | None) -> Iterator[Token]:
    kind = match.lastgroup if match["number"] is None else "number"
    if kind == "number":
        yield from _number(match, previous)
    elif kind == "word":
        yield from _word(match[0], match.start())
    elif kind == "han":
        yield Token("han", match[0], match.start(), match.end())
    else:
        yield Token("punct", match[0], match.start(), match.end())


def _word(text: str, start: int) -> Iterator[Token]:
    """A word, less a sign at its end that closes the sentence; `x` alone is a sign."""
    kind: Literal["word", "punct"] = "punct" if text in ("x", "X", "×") else "word"
    yield Token(kind, text.lower() if kind == "punct" else text, start, start + len(text))


def _number(match: re.Match[str], previous: Token | None) -> Iterator[Token]:
    body, tail, start = match["number"], match["tail"] or "", match.start()
    end = start + len(body)
    if len(body) > 24:
        yield Token("word", match[0], start, match.end())
        return
    value = parse_number(body)
    if tail == "%":
        yield Token("number", match[0], start, match.end(), clean(value / 100))
    elif tail in _MULTIPLES:
        yield Token("number", match[0], start, match.end(), whole(value * _MULTIPLES[tail]))
    elif not tail or tail.lower() in _UNITS or tail.lower().partition("-")[0] in _UNITS:
        yield Token("number", body, start, end, value)
        if tail.lower() not in ("", "ms"):
            yield Token("punct" if tail == "x" else "word", tail, end, match.end())
    elif re.match(r"[xX][A-Za-z]*\d", tail):
        yield Token("number", body, start, end, value)
        yield Token("punct", "x", end, end + 1)
        rest = tail[1:]
        plain = rest.isdigit()
        yield Token("number" if plain else "word", rest, end + 1, match.end(), int(rest[:9]) if plain else None)
    else:
        yield Token("word", match[0], start, match.end())


def parse_number(text: str) -> Number:
    """The value of a literal: `1e-3`, `.5`, `1,024`. Whole ones without a point or exponent are ints."""
    text = text.replace(",", "")
    if text.isdigit():
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else 0


def whole(value: Number) -> Number:
    return round(value) if math.isclose(value, round(value), abs_tol=1e-9) else clean(value)


def clean(value: float) -> float:
    """Without the noise of binary arithmetic."""
    return float(f"{value:.12g}")


def _spelled(tokens: list[Token]) -> list[Token]:
    """Numbers written in words become numbers; signs before a number join it."""
    out: list[Token] = []
    place = 0
    while place < len(tokens):
        token, used = tokens[place], 1
        if (
            token.kind == "han"
            and token.text in _MYRIADS
            and out
            and out[-1].kind == "number"
            and out[-1].end == token.start
        ):
            number = out.pop()
            token = replace(
                number,
                text=number.text + token.text,
                end=token.end,
                value=whole((number.value or 0) * _MYRIADS[token.text]),
            )
        elif token.kind == "han":
            token, used = _chinese_number(tokens, place)
        elif token.low in _NUMBER_WORDS or token.low in ("half", "quarter"):
            token, used = _english_number(tokens, place)
        elif token.text in "-+" and place + 1 < len(tokens):
            token, used = _signed(tokens, place)
        out.append(token)
        place += used
    return out


def _signed(tokens: list[Token], place: int) -> tuple[Token, int]:
    sign, number = tokens[place], tokens[place + 1]
    before = tokens[place - 1] if place else None
    tight = number.kind == "number" and number.start == sign.end
    free = before is None or (before.end < sign.start and before.kind != "number") or before.text in "([{,=:、|/"
    if not (tight and free and number.value is not None):
        return sign, 1
    value = -number.value if sign.text == "-" else number.value
    return replace(number, text=sign.text + number.text, start=sign.start, value=value), 2


def _english_number(tokens: list[Token], place: int) -> tuple[Token, int]:
    """`five`, `twenty five`, `two dozen`, `half a dozen`."""
    first = tokens[place]
    lows = [token.low for token in tokens[place : place + 3]]
    if first.low == "half" and lows[1:] == ["a", "dozen"]:
        return Token("number", "half a dozen", first.start, tokens[place + 2].end, 6, True), 3
    if first.low in ("half", "quarter"):
        return first, 1
    value, second = _NUMBER_WORDS[first.low], _NUMBER_WORDS.get(lows[1]) if len(lows) > 1 else None
    if second is not None and ((second in (12, 100) and value < 12) or (value >= 20 and 0 < second < 10)):
        total = value * second if second in (12, 100) else value + second
        return Token("number", " ".join(lows[:2]), first.start, tokens[place + 1].end, total, True), 2
    return replace(first, kind="number", value=value, wordy=True), 1


def _chinese_number(tokens: list[Token], place: int) -> tuple[Token, int]:
    """`十二`, `两百`, `半`, where a measure word follows."""
    end = place
    while end < len(tokens) and end - place < 8 and (tokens[end].text in _DIGITS or tokens[end].text in _PLACES):
        end += 1
    after = tokens[end].text if end < len(tokens) else ""
    before = tokens[place - 1].text if place else ""
    if tokens[place].text == "半" and place + 1 < len(tokens) and tokens[place + 1].text in "天小个":
        return replace(tokens[place], kind="number", value=0.5, wordy=True), 1
    if end == place or after not in _MEASURES or before in ("周", "期", "拜", "第", "同", "统"):
        return tokens[place], 1
    text = "".join(token.text for token in tokens[place:end])
    return Token("number", text, tokens[place].start, tokens[end - 1].end, chinese_value(text), True), end - place


def chinese_value(text: str) -> int:
    """The value of a numeral such as `十二` or `两百五十`."""
    total, digit = 0, 0
    for character in text:
        if character in _PLACES:
            total += (digit or 1) * _PLACES[character]
            digit = 0
        else:
            digit = _DIGITS.get(character, 0)
    return total + digit


def count_of(text: str) -> Number | None:
    """A count in digits or words of either language; `None` when it is no number."""
    tokens = lex(text.strip() + ("个" if re.fullmatch("[零一二两三四五六七八九十百千万]{1,8}", text.strip()) else ""))
    if [token.low for token in tokens[:1]] in (["a"], ["an"]):
        tokens = tokens[1:] or [Token("number", "a", 0, 1, 1, True)]
    return tokens[0].value if tokens else None
