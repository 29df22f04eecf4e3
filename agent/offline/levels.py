"""Settings whose levels are words (`optimizer adam and sgd`, `fp16 vs bf16`), and settings under unknown names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from agent.offline.claims import Claims, scale_of
from agent.offline.lexicon import BARE, LEVELS, LISTED, QUALIFIERS, TOGETHER
from agent.offline.sheet import Sheet, key_of
from agent.offline.values import Group

_SHY = frozenset(
    "loss activation scheduler pooling normalization attention initialization sampler quantization".split()
)
"""Words of everyday use: they are settings only where a known level, a list or a sign follows."""
_NAMES_NO_SETTING = frozenset(
    "run runs plan plans job jobs experiment line lines page version seed note goal ps re top fig table step task budget deadline time name"
    " gpu gpus id user now title subject request todo please hi hello compare train question plan, fyi setup config settings".split()
)
_HEADS = frozenset(
    "size rate ratio weight dim dims dimension factor coefficient coeff coef scale length level decay threshold strength prob probability"
    " range size alpha penalty power width depth count dropout beta gamma temperature margin bound cap radius window stride rank order bins fraction horizon interval frequency budget capacity k n value multiplier".split()
)
"""Last words of the names that people give to settings: `queue size 65536`."""
_STOPS = frozenset(
    "on with for using at by in to from the a an each per it we please report keep over under only same then than if when this that is are was".split()
)


@dataclass(frozen=True)
class Atom:
    """One word level and where it ends."""

    text: str
    key: str
    start: int
    end: int


def read_levels(sheet: Sheet) -> dict[str, list[Any]]:
    """Levels of settings of words, in order; what is read is marked as used."""
    found: dict[str, list[Any]] = {}
    for place in range(len(sheet)):
        name = sheet.terms[place].as_a("setting") if sheet.free(place) else None
        if name is None or scale_of(name) != "words":
            continue
        levels = _right(sheet, place, name) or _left(sheet, place, name)
        if levels:
            _add(found, name, levels)
    for name, levels in (*_read_bare(sheet), *_read_listed(sheet)):
        _add(found, name, levels)
    return found


def _add(found: dict[str, list[Any]], name: str, levels: list[Any]) -> None:
    kept = found.setdefault(name, [])
    kept += [level for level in levels if level not in kept]


@cache
def _known(name: str) -> frozenset[str]:
    return frozenset(key_of(level) for level in LEVELS.get(name, ())) | {"none"}


@cache
def _first_letters() -> frozenset[str]:
    return frozenset(level[:3] for name in LISTED for level in _known(name))


def _right(sheet: Sheet, place: int, name: str) -> list[Any] | None:
    at, signed = place + 1, False
    while (
        sheet.free(at)
        and at - place < 5
        and (
            sheet.is_a(at, "join", "most")
            or sheet.low(at) in ("[", "(", "{", "'", '"', "strategies", "policies", "strategy", "策略", "types")
        )
    ):
        if (
            sheet.low(at) in ("the", "a", "an", "in")
            and scale_of(name) == "words"
            and _atom(sheet, at + 1, name) is None
        ):
            return None
        signed = signed or sheet.low(at) in ("=", ":", "{", "[", "∈", "is", "为", "用")
        at += 1
    atoms = list(_atoms(sheet, at, name))
    if not atoms:
        return None
    known = any(atom.key in _known(name) for atom in atoms)
    if not known and name in _SHY and not (signed or (len(atoms) > 1 and at == place + 1)):
        return None
    sheet.take(place, atoms[-1].end)
    return [_level(atom) for atom in atoms]


def _level(atom: Atom) -> Any:
    return int(atom.text) if re.fullmatch(r"\d{1,9}", atom.text) else atom.text


def _atoms(sheet: Sheet, at: int, name: str) -> Iterator[Atom]:
    """Word levels from `at` on, with their separators."""
    while (atom := _atom(sheet, at, name)) is not None:
        yield atom
        at = atom.end
        if sheet.low(at) in ("'", '"') and sheet.free(at):
            at += 1
        seps = 0
        while sheet.is_a(at + seps, "sep") and seps < 2:
            seps += 1
        if not seps and sheet.low(at) == "with" and (other := _atom(sheet, at + 1, name)) and other.key in _known(name):
            seps = 1
        if not seps:
            return
        at += seps
        while sheet.free(at) and sheet.low(at) in ("'", '"', "the", "a"):
            at += 1


def _atom(sheet: Sheet, at: int, name: str) -> Atom | None:
    """A level at a place: a known one of up to three terms, a letter, or a word that is nothing else."""
    if not sheet.free(at):
        return None
    for end in (at + 4, at + 3, at + 2, at + 1):
        if end <= len(sheet) and all(sheet.free(p) for p in range(at, end)):
            text = sheet.said(at, end)
            if key_of(text) in _known(name):
                return Atom(text, key_of(text), at, end)
    term = sheet.terms[at]
    if sheet.is_a(at + 1, "setting", "unit") and term.kind == "number":
        return None
    bad = (term.low in _STOPS and term.text != "A") or (sheet.is_a(at + 1, "join") and sheet.low(at + 1) in ("=", ":"))
    if bad:
        return None
    other = term.kind == "level" and term.name != name
    letter = len(term.text) == 1 and term.text.isalpha() and term.text.isascii() and not (term.text == "n")
    plain = (
        term.kind in ("word", "metric", "setting")
        or (term.kind == "level" and not other)
        or (term.kind == "number" and not term.wordy and name == "augmentation")
    )
    if term.kind == "setting" and (
        term.name == name
        or term.name not in (*TOGETHER, "color_jitter", "horizontal_flip", "random_crop", "batch_norm", "layer_norm")
    ):
        plain = False
    if letter or plain:
        return Atom(term.text, key_of(term.text), at, at + 1)
    return None


def _left(sheet: Sheet, place: int, name: str) -> list[Any] | None:
    """Known levels, or letters, right before the setting: `cosine and linear schedules`, `A/B augmentation`."""
    known = _known(name) - {"none"}
    atoms: list[Atom] = []
    end = place
    while sheet.free(end - 1) and (
        sheet.low(end - 1) in ("种", "个", "的", "两种", "不同", "different") or sheet.terms[end - 1].wordy
    ):
        end -= 1
    if name == "augmentation" and end < place:
        known = known | {letter for letter in "abcdefgh"}
    while end > 0:
        atom = next(
            (
                Atom(sheet.said(start, end), key_of(sheet.said(start, end)), start, end)
                for start in range(max(0, end - 4), end)
                if all(sheet.free(p) for p in range(start, end)) and key_of(sheet.said(start, end)) in known
            ),
            None,
        )
        if atom is None:
            break
        atoms.insert(0, atom)
        end = atom.start
        if not sheet.is_a(end - 1, "sep"):
            break
        while sheet.is_a(end - 1, "sep"):
            end -= 1
    if not atoms:
        return None
    whole = sheet.said(atoms[-1].start, place + 1)
    texts = [atom.text for atom in atoms[:-1]] + [whole if key_of(whole) in known else atoms[-1].text]
    sheet.take(atoms[0].start, place + 1)
    return texts


def _read_bare(sheet: Sheet) -> Iterator[tuple[str, list[Any]]]:
    """Levels that are known by their own names."""
    for place in range(len(sheet)):
        if sheet.free(place) and sheet.terms[place].kind == "level":
            name = sheet.terms[place].name
            if name in BARE:
                sheet.take(place, place + 1)
                yield name, [sheet.terms[place].text]
                if sheet.is_a(place + 1, "sep") and sheet.low(place + 2) == "none" and sheet.free(place + 2):
                    sheet.take(place + 1, place + 3)
                    yield name, ["none"]
        elif _contrasts(sheet, place):
            first, second = sheet.terms[place], sheet.terms[place + 2]
            sheet.take(place, place + 3)
            yield "augmentation", [first.text, second.text]


def _contrasts(sheet: Sheet, place: int) -> bool:
    """`mixup vs cutmix`: two ways of augmentation against each other."""
    pair = [sheet.terms[at].as_a("setting") if sheet.free(at) else None for at in (place, place + 2)]
    return (
        all(name in TOGETHER for name in pair)
        and pair[0] != pair[1]
        and sheet.low(place + 1) in ("vs", "vs.", "versus", "or", "against", "/")
    )


def _read_listed(sheet: Sheet) -> Iterator[tuple[str, list[Any]]]:
    """Two or more known levels of one setting in a list (`cosine vs linear`) need no setting beside them."""
    for place in range(len(sheet)):
        if not sheet.free(place) or key_of(sheet.terms[place].text)[:3] not in _first_letters():
            continue
        for name in LISTED:
            atoms = [atom for atom in _atoms(sheet, place, name)]
            if (
                len(atoms) > 1
                and all(atom.key in _known(name) - {"none"} for atom in atoms)
                and not sheet.is_a(atoms[-1].end, "metric")
            ):
                sheet.take(place, atoms[-1].end)
                yield name, [atom.text for atom in atoms]
                break


def read_unknown(sheet: Sheet, claims: Claims) -> Iterator[tuple[str, Group]]:
    """Numbers behind a word that is no known setting: it is a setting under the name written."""
    for group in claims.groups[:]:
        at, signed = group.start - 1, False
        while (
            sheet.free(at)
            and group.start - at <= 4
            and (sheet.is_a(at, "join") or sheet.low(at) in ("(", "[", "in"))
            and not (sheet.low(at) in _HEADS and _qualifies(sheet, at - 1))
        ):
            signed = signed or sheet.low(at) in ("=", ":", "∈", "in", ":=")
            at -= 1
        if signed and sheet.kind(at) == "word" and sheet.low(at) == "r" and "lora" in sheet.text.lower():
            claims.groups.remove(group)
            sheet.take(at, group.end)
            yield "lora_rank", group
            continue
        start = at
        while (
            start - 1 >= 0
            and at - start < 2
            and (
                _may_name(sheet, start - 1, strict=True)
                or (sheet.free(start - 1) and sheet.low(start - 1) in QUALIFIERS)
            )
            and sheet.spaced(start)
        ):
            start -= 1
        if start == at and sheet.low(at) in _HEADS and _qualifies(sheet, at - 1):
            start = at - 1
        headed = start < at and sheet.low(at) in _HEADS
        if not headed and not (_may_name(sheet, at) and _is_setting(sheet, group, at, signed=signed)):
            continue
        claims.groups.remove(group)
        name = re.sub(r"[\s-]+", "_", sheet.said(start, at + 1))
        sheet.take(start, group.end)
        yield name, group


def _qualifies(sheet: Sheet, at: int) -> bool:
    """A word that makes a name of a head behind it, whatever else it may mean: `clip range`, `queue size`."""
    lower = sheet.free(at) and sheet.terms[at].text.isalpha() and sheet.terms[at].text.islower()
    return (
        lower
        and sheet.kind(at) in ("common", "verb", "model", "word")
        and sheet.low(at) not in _STOPS
        and len(sheet.low(at)) > 2
    )


def _may_name(sheet: Sheet, at: int, *, strict: bool = False) -> bool:
    if not (sheet.free(at) and sheet.kind(at) == "word"):
        return False
    low = sheet.low(at)
    if low in _NAMES_NO_SETTING or (len(low) < 2 and strict) or not low[:1].isalpha():
        return False
    return not strict or low.islower()


def _is_setting(sheet: Sheet, group: Group, at: int, *, signed: bool) -> bool:
    text = sheet.terms[at].text
    several = group.span is not None or len(group.elements) > 1
    fraction = any(not float(element.low).is_integer() for element in group.elements[:1])
    capital = text[:1].isupper() and not signed
    return signed or "_" in text or ((several or fraction) and not capital) or (several and fraction)


def read_named_alike(sheet: Sheet, claims: Claims) -> Iterator[tuple[str, Group]]:
    """`clip 0.1 and 0.2`: fractions make a setting even of a word that is also a model's name."""
    for group in claims.groups[:]:
        at = group.start - 1
        plain = sheet.kind(at) == "model" and sheet.terms[at].text.isalpha() and sheet.terms[at].text.islower()
        if plain and len(group.elements) > 1 and all(0 < element.low < 1 for element in group.elements):
            claims.groups.remove(group)
            sheet.take(at, group.end)
            yield sheet.terms[at].text, group


def read_worded(sheet: Sheet) -> Iterator[tuple[str, list[Any]]]:
    """`tokenizer=bpe,unigram`, `teacher: a, b`: a sign makes any word a setting with words for levels."""
    for place in range(len(sheet) - 2):
        if not (_may_name(sheet, place) and sheet.free(place + 1) and sheet.low(place + 1) in ("=", ":")):
            continue
        begins = place == 0 or sheet.low(place - 1) in (";", ",", "(")
        if sheet.low(place + 1) == ":" and not begins:
            continue
        at = place + 2
        while sheet.free(at) and sheet.low(at) in ("[", "{", "(", "'", '"'):
            at += 1
        atoms = list(_atoms(sheet, at, "tokenizer"))
        closed = atoms and (
            atoms[-1].end >= len(sheet)
            or sheet.low(atoms[-1].end) in (";", ",", "]", "}", ")", ".")
            or sheet.low(place + 1) == "="
        )
        if atoms and closed:
            sheet.take(place, atoms[-1].end)
            yield re.sub(r"[\s-]+", "_", sheet.terms[place].text), [_level(atom) for atom in atoms]
