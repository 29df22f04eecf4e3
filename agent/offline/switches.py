"""Settings that are on or off: `with and without EMA`, `mixup on/off`, `no dropout vs dropout`, `是否使用EMA`."""

import re
from collections.abc import Iterator
from typing import Any

from agent.offline.claims import scale_of
from agent.offline.sheet import Sheet, key_of

BOTH = (True, False)
_ARTICLES = frozenset("the a an using use of any both our 使用 用 了 做 加 有 it's some extra".split())
_NOT_A_NAME = frozenset("it that this them they 它 这个 and or then doing".split())
_ASKED = frozenset(
    "help helps matter matters useful worth hurt hurts improve improves work needed necessary 有用 有帮助 有效 影响 作用 帮助 有效果 效果".split()
)
_MEANT_ON = frozenset(
    "gradient_checkpointing ema flash_attention mixed_precision amp early_stopping swa nesterov compile mixup cutmix"
    " pretrained class_weights random_erasing".split()
)
_SWITCHED = frozenset(["mixup", "cutmix", "augmentation"])


def read_switches(sheet: Sheet) -> dict[str, list[Any]]:
    """Every setting that is switched, varied or fixed, in the order named; what is read is marked as used."""
    found: dict[str, list[Any]] = {}
    for place in range(len(sheet)):
        if sheet.is_a(place, "switch"):
            for name in _read_pair(sheet, place):
                found[name] = [*BOTH]
    for place in range(len(sheet)):
        if sheet.is_a(place, "neg"):
            found |= _read_negation(sheet, place)
    return found


def read_fixed(sheet: Sheet) -> dict[str, list[Any]]:
    """Switches that are only asked about (`does EMA help?`: both) or only turned on (`with EMA`)."""
    found: dict[str, list[Any]] = {}
    for place in range(len(sheet)):
        name = sheet.terms[place].as_a("setting") if sheet.free(place) else None
        if name is None or not (scale_of(name) == "switch" or name in _SWITCHED):
            continue
        if _is_asked(sheet, place):
            found[name] = [*BOTH]
        elif name in _MEANT_ON and (
            sheet.is_a(place - 1, "pos") or (sheet.low(place - 1) in _ARTICLES and sheet.is_a(place - 2, "pos"))
        ):
            found[name] = [True]
        else:
            continue
        sheet.take(place, place + 1)
    return found


def _is_asked(sheet: Sheet, place: int) -> bool:
    """`does EMA help`, `effect of mixup`, `ablate EMA`, `EMA有用吗`."""
    before = " ".join(sheet.low(at) for at in range(max(0, place - 4), place))
    after = {sheet.low(at) for at in range(place + 1, min(len(sheet), place + 4))}
    asked = re.search(r"\b(?:does|do|is|whether|if|will|would|did)\b", before) is not None and bool(after & _ASKED)
    told = re.search(
        r"\b(?:effects? of|impact of|influence of|ablat\w*|ablation (?:of|on|over)|benefits? of|value of)\b", before
    )
    chinese = bool({"有", "有用", "帮助"} & after and {"用", "帮助", "有用", "效"} & after) or "消融" in before
    return asked or told is not None or chinese


def _read_pair(sheet: Sheet, place: int) -> list[str]:
    """The settings that a switch phrase is about: those behind it, else the one before it."""
    term, names = sheet.terms[place], list[str]()
    if term.meaning.name("switch") is not None and ("switch", "pair") in term.meaning.roles:
        at = place + 1
        while (phrase := _noun(sheet, at)) is not None:
            name, end = phrase
            names.append(name)
            sheet.take(at, end)
            if not (sheet.is_a(end, "sep") and sheet.is_a(end + 1, "setting") and sheet.kind(end + 2) != "number"):
                break
            at = end + 1
    if not names and ("switch", "after") in term.meaning.roles:
        before = _noun_before(sheet, place)
        if before is not None:
            names.append(before[0])
            sheet.take(before[1], place)
        elif (far := _switch_before(sheet, place)) is not None:
            names.append(sheet.terms[far].as_a("setting") or "")
            sheet.take(far, far + 1)
    if names:
        sheet.take(place, place + 1)
    return names


def _switch_before(sheet: Sheet, place: int) -> int | None:
    """The nearest setting before that can only be on or off: `does checkpointing slow it down: on vs off`."""
    for at in range(place - 1, max(-1, place - 9), -1):
        name = sheet.terms[at].as_a("setting") if sheet.free(at) else None
        if name is not None and scale_of(name) == "switch":
            return at
    return None


def _noun(sheet: Sheet, at: int) -> tuple[str, int] | None:
    """The setting named at a place, and where its name ends: a known one, else up to three plain words."""
    while sheet.free(at) and (sheet.low(at) in _ARTICLES or sheet.low(at) in ("'", '"')):
        at += 1
    if not sheet.free(at):
        return None
    known = sheet.terms[at].as_a("setting")
    if known is not None:
        head = scale_of(known) == "words" and sheet.kind(at + 1) == "word"
        return (_written(sheet, at, at + 2), at + 2) if head else (known, at + 1)
    end = at
    while end - at < 3 and sheet.free(end) and _nameable(sheet, end):
        end += 1
    if (
        end < len(sheet)
        and end > at
        and sheet.is_a(end, "setting")
        and sheet.low(end) not in ("batch",)
        and end - at < 3
    ):
        return _written(sheet, at, end + 1), end + 1
    if end > at:
        return _written(sheet, at, end), end
    return _chinese_noun(sheet, at)


def _nameable(sheet: Sheet, place: int) -> bool:
    return (
        sheet.kind(place) in ("word", "level", "model", "metric", "modelkey", "datakey")
        and sheet.low(place) not in _NOT_A_NAME
    )


def _chinese_noun(sheet: Sheet, at: int) -> tuple[str, int] | None:
    end = at
    while end - at < 8 and sheet.kind(end) == "han" and sheet.low(end) not in "的对在和与时":
        end += 1
    return (_written(sheet, at, end), end) if end - at >= 2 else None


def _noun_before(sheet: Sheet, place: int) -> tuple[str, int] | None:
    """The setting right before a place, and where its name begins."""
    at = place - 1
    while (
        at >= 0
        and sheet.free(at)
        and (
            sheet.is_a(at, "join")
            or sheet.low(at) in ("{", "[", "(", "'", "both", "的", "with", "turned", "turn", "switched")
        )
    ):
        at -= 1
    if not sheet.free(at):
        return None
    known = sheet.terms[at].as_a("setting")
    if known is not None:
        return known, at
    start = at
    while start > 0 and at - start < 1 and _nameable(sheet, start) and _nameable(sheet, start - 1):
        start -= 1
    spelled = _nameable(sheet, start) and not (
        sheet.low(place - 1) in (":", "-", "–", ",") and _switch_before(sheet, place) is not None
    )
    return (_written(sheet, start, at + 1), start) if spelled else None


def _written(sheet: Sheet, start: int, end: int) -> str:
    return re.sub(r"[\s\-/]+", "_", sheet.said(start, end).lower().strip())


def _read_negation(sheet: Sheet, place: int) -> dict[str, list[Any]]:
    """`no X vs X`, `with X and without it`, or a setting turned off for all runs."""
    noun = _noun(sheet, place + 1)
    if noun is None or noun[0] in _NOT_A_NAME:
        return _contrasted_before(sheet, place)
    name, end = noun
    if scale_of(name) == "words" and _among_levels(sheet, place, end):
        sheet.take(place, end)
        return {name: ["none"]}
    twin = next(
        (
            at
            for at in _near(sheet, place, end)
            if sheet.terms[at].as_a("setting") == name or key_of(sheet.terms[at].text) == key_of(name)
        ),
        None,
    )
    if twin is not None and _joined(sheet, min(twin, place), max(twin, end - 1)):
        start = twin - 1 if sheet.is_a(twin - 1, "pos", "neg") else twin
        sheet.take(min(start, place), max(twin + 1, end))
        return {name: [*BOTH]}
    if _contrast_behind(sheet, end):
        sheet.take(place, end + 2)
        return {name: [*BOTH]}
    if (scale_of(name) == "switch" or name in _SWITCHED) and sheet.low(place) not in ("not", "non"):
        sheet.take(place, end)
        return {name: [False]}
    return {}


def _among_levels(sheet: Sheet, start: int, end: int) -> bool:
    """`no augmentation vs RandAugment`: one of the levels is to have none."""
    after = sheet.is_a(end, "sep") and sheet.is_a(end + 1, "level", "word", "model") and not sheet.is_a(end + 1, "pos")
    before = sheet.is_a(start - 1, "sep") and sheet.is_a(start - 2, "level")
    return after or before


def _near(sheet: Sheet, start: int, end: int) -> Iterator[int]:
    yield from (at for at in range(start - 1, max(-1, start - 7), -1) if sheet.free(at))
    yield from (at for at in range(end, min(len(sheet), end + 6)) if sheet.free(at))


def _joined(sheet: Sheet, start: int, end: int) -> bool:
    return any(sheet.is_a(at, "sep") for at in range(start, end))


def _contrast_behind(sheet: Sheet, end: int) -> bool:
    """`不用EMA和用`: the other side is a bare word."""
    return (
        sheet.is_a(end, "sep")
        and sheet.is_a(end + 1, "pos")
        and not sheet.is_a(end + 2, "setting", "word", "model", "dataset")
    )


def _contrasted_before(sheet: Sheet, place: int) -> dict[str, list[Any]]:
    """`with EMA and without`: what is left out is the thing named before."""
    if not sheet.is_a(place - 1, "sep"):
        return {}
    before = _noun_before(sheet, place - 1)
    if before is None or (sheet.terms[place - 2].as_a("setting") is None and not sheet.is_a(before[1] - 1, "pos")):
        return {}
    end = place + 2 if sheet.low(place + 1) in _NOT_A_NAME else place + 1
    sheet.take(before[1], end)
    return {before[0]: [*BOTH]}
