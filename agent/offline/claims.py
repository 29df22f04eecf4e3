"""Which numbers belong to which setting or unit.

Terms are asked from right to left: each takes the numbers behind it (`lr 1e-3 and 1e-4`), else those before it
(`50 epochs`). So in `lr 1e-3, 1e-4, 3 seeds` the seeds take their 3 before the learning rate takes the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from agent.offline.lexicon import COUNTED, GPU_NUMBERS, Scale, settings_table
from agent.offline.sheet import Sheet, Term, key_of
from agent.offline.values import Group, groups_of

_MOST_SKIPPED = 4
_LEFT_FILLERS = frozenset(
    "- 个 种 x × * different distinct random independent possible separate various extra more additional for the as of total"
    " nvidia free full max training lr 不同 的 parallel log-spaced total, bayesian optuna search 随机 独立".split()
)
_RIGHT_UNITS = frozenset("seeds trials gpus nodes cpus memory gpu_hours gpu_days repeats".split())
_IN_STEPS = ("warmup", "gradient_accumulation", "timesteps")
_AGAINST = frozenset(
    ["vs", "versus", "vs.", "compared to", "compared with", "against", "rather than", "instead of", "还是"]
)


@dataclass(frozen=True)
class Claim:
    """A setting or unit at a place on the sheet, with its numbers. `joined`: by `=`, `:` or such."""

    place: int
    kind: str
    name: str
    group: Group
    right: bool
    joined: bool = False


@dataclass
class Claims:
    """What was claimed, the settings that found no numbers, and the numbers that found no owner."""

    made: list[Claim] = field(default_factory=list[Claim])
    loose: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    groups: list[Group] = field(default_factory=list[Group])

    def of(self, kind: str) -> list[Claim]:
        return [claim for claim in self.made if claim.kind == kind]


@cache
def scale_of(name: str) -> Scale:
    """How a range of the setting is meant."""
    key = key_of(name)
    fallback: Scale = "linear"
    named = next((word for word in settings_table() if word.name == name), None)
    called = named or next((word for word in settings_table() if key in map(key_of, word.aliases)), None)
    return called.scale if called is not None else fallback


def make_claims(sheet: Sheet) -> Claims:
    """Hand out all unread numbers. What is claimed is marked as used on the sheet."""
    claims = Claims(groups=groups_of(sheet))
    for place in range(len(sheet) - 1, -1, -1):
        if not sheet.free(place):
            continue
        for kind, name in _owners(sheet, place):
            if _claim(sheet, claims, place, kind, name):
                break
    claims.made.reverse()
    claims.loose.reverse()
    _share(sheet, claims)
    _same_unit(sheet, claims)
    _give_orphans(sheet, claims)
    return claims


def _owners(sheet: Sheet, place: int) -> list[tuple[str, str]]:
    """The roles in which the term may own numbers, the likeliest first."""
    term = sheet.terms[place]
    if term.kind == "number":
        bare = term.value in GPU_NUMBERS and _names_a_card(sheet, place)
        return [("gpu", f"RTX {term.value}")] if bare else []
    roles = term.meaning.roles
    return [(kind, name) for kind, name in roles if kind in ("unit", "setting", "gpu")]


def _names_a_card(sheet: Sheet, place: int) -> bool:
    """`a single 3090`, `2 x 4090`, `on the 3090`."""
    before = sheet.low(place - 1)
    counted = sheet.kind(place - 1) == "number" or (before == "x" and sheet.kind(place - 2) == "number")
    return counted or before in ("a", "an", "one", "single", "the", "张", "块", "our") or sheet.is_a(place + 1, "unit")


def _claim(sheet: Sheet, claims: Claims, place: int, kind: str, name: str) -> bool:
    if kind == "setting" and scale_of(name) == "words":
        return False
    found = _right(sheet, claims, place, kind, name) or _left(sheet, claims, place, kind, name)
    if found is None:
        if kind == "setting":
            claims.loose.append((place, name))
        return kind == "setting"
    claims.made.append(found)
    sheet.take(place, place + 1)
    sheet.take(found.group.start, found.group.end)
    return True


def _right(sheet: Sheet, claims: Claims, place: int, kind: str, name: str) -> Claim | None:
    if kind == "unit" and name not in _RIGHT_UNITS:
        return None
    at, joined, seen = place + 1, False, None
    for _skip in range(_MOST_SKIPPED + 1):
        group = _group_starting(claims, at)
        if group is not None:
            return _right_claim(sheet, claims, place, kind, name, group, joined=joined)
        seen = sheet.terms[at] if sheet.free(at) else None
        if seen is None or not _may_skip(sheet, at, kind):
            return None
        joined = joined or seen.low in ("=", ":", ":=", "为", "设为", "是")
        at += 1
    return None


def _right_claim(
    sheet: Sheet, claims: Claims, place: int, kind: str, name: str, group: Group, *, joined: bool
) -> Claim | None:
    gap = group.start - place - 1
    if kind == "gpu" and not (gap == 1 and sheet.low(place + 1) in ("x", "*", "×", ":")):
        return None
    if (
        kind == "unit"
        and name != "seeds"
        and not (joined or (gap == 0 and sheet.low(place).endswith(("数", "number of"))))
    ):
        most = any(sheet.is_a(at, "most") for at in range(place + 1, group.start))
        if not most:
            return None
    if group.elements[0].wordy and not joined and kind == "setting" and len(group.elements) == 1:
        return None
    claims.groups.remove(group)
    return Claim(place, kind, name, group, right=True, joined=joined)


def _may_skip(sheet: Sheet, at: int, kind: str) -> bool:
    """Words between a setting and its numbers that change nothing."""
    if kind == "gpu":
        return sheet.low(at) in ("x", "*", "×", ":")
    if kind == "unit":
        return sheet.is_a(at, "join", "most") or sheet.low(at) in ("'", '"')
    return (
        sheet.is_a(at, "join", "verb", "most")
        or sheet.low(at) in ("'", '"', "(", "with", "in", "~", "@", "on", "x")
        or sheet.is_a(at, "spacing", "points")
    )


def _left(sheet: Sheet, claims: Claims, place: int, kind: str, name: str) -> Claim | None:
    at, gpu_between = place - 1, False
    for _skip in range(_MOST_SKIPPED):
        group = _group_ending(claims, at + 1)
        if group is not None:
            if kind == "unit" and name in ("hours", "days") and gpu_between:
                name = f"gpu_{name}"
            return _left_claim(sheet, claims, place, kind, name, group)
        if not sheet.free(at):
            return None
        if kind == "unit" and sheet.is_a(at, "gpu", "strategy"):
            gpu_between = gpu_between or sheet.is_a(at, "gpu")
        elif not (
            sheet.low(at) in _LEFT_FILLERS
            or (kind == "gpu" and sheet.low(at) in ("张", "块", "台", "卡", "枚"))
            or (kind == "unit" and sheet.low(at) in ("gpu", "(", "cpu"))
        ):
            return None
        at -= 1
    return None


def _left_claim(sheet: Sheet, claims: Claims, place: int, kind: str, name: str, group: Group) -> Claim | None:
    owned = _owner_before(sheet, group.start)
    if owned in _IN_STEPS and name in ("steps", "epochs"):
        return None
    number = group.elements[-1]
    if (
        kind == "setting"
        and scale_of(name) == "decades"
        and (number.wordy or (isinstance(number.low, int) and number.low > 1))
    ):
        return None
    several = len(group.elements) > 1
    if kind == "setting" and owned and (not several or not _counted(sheet, place, name)):
        return None
    if several and (kind != "setting" or owned):
        rest, mine = group.without_last(), group.last()
    else:
        rest, mine = None, group
    if (
        kind == "setting"
        and not several
        and not _counted(sheet, place, name)
        and group.end != place
        and sheet.low(group.end) in ("for", "the")
    ):
        return None
    index = claims.groups.index(group)
    claims.groups[index : index + 1] = [rest] if rest is not None else []
    return Claim(place, kind, name, mine, right=False)


def _counted(sheet: Sheet, place: int, name: str) -> bool:
    return name in COUNTED or not sheet.low(place).isascii()


def _owner_before(sheet: Sheet, start: int) -> str | None:
    """The setting that stands right before the numbers, so that they are its own."""
    at = start - 1
    for _skip in range(_MOST_SKIPPED):
        if sheet.is_a(at, "setting"):
            return sheet.terms[at].as_a("setting")
        if not (sheet.free(at) and _may_skip(sheet, at, "setting")):
            return None
        at -= 1
    return None


def _group_starting(claims: Claims, place: int) -> Group | None:
    return next((group for group in claims.groups if group.start == place), None)


def _group_ending(claims: Claims, place: int) -> Group | None:
    return next((group for group in claims.groups if group.end == place), None)


def _share(sheet: Sheet, claims: Claims) -> None:
    """`lr and weight decay from 1e-5 to 1e-2`: the range is for both."""
    for place, name in reversed(claims.loose[:]):
        after = place + 1
        while sheet.is_a(after, "sep"):
            after += 1
        owner = next((claim for claim in claims.of("setting") if claim.place == after and claim.right), None)
        both = sheet.low(place - 1) == "both" or sheet.low(place - 2) == "both"
        if owner is not None and after > place + 1 and (owner.group.span is not None or both):
            claims.loose.remove((place, name))
            claims.made.append(Claim(place, "setting", name, owner.group, right=True))
            sheet.take(place, place + 1)


def _same_unit(sheet: Sheet, claims: Claims) -> None:
    """`warmup 500 steps vs 1000 steps`: the second number is the warm-up's too."""
    for index, claim in enumerate(claims.made):
        asked = [loose for loose in claims.loose if loose[1] in _IN_STEPS and loose[0] < claim.place]
        if asked and not claim.right and claim.name in ("steps", "epochs") and len(claim.group.elements) > 1:
            claims.made[index] = replace(claim, name=asked[-1][1])
            claims.loose.remove(asked[-1])
            continue
        word = claim.group.start - 2
        if claim.right or claim.name not in ("steps", "epochs") or not sheet.terms[claim.group.start - 1].is_a("sep"):
            continue
        owner = next((one for one in claims.of("setting") if one.group.end == word and one.name != claim.name), None)
        if owner is not None and sheet.terms[word].as_a("setting") == claim.name and owner.name.startswith("warmup"):
            claims.made[index] = replace(claim, name=owner.name)


def _give_orphans(sheet: Sheet, claims: Claims) -> None:
    """Numbers that nothing claimed belong to the nearest setting named without levels."""
    for group in claims.groups[:]:
        against = _against(sheet, claims, group)
        if against is not None:
            _extend(claims, against, group)
        elif not any(element.wordy for element in group.elements) and _is_list(sheet, group):
            owner = _nearest(sheet, claims.loose, group)
            if owner is None:
                continue
            claims.loose.remove(owner)
            claims.made.append(Claim(owner[0], "setting", owner[1], group, right=owner[0] < group.start))
            sheet.take(owner[0], owner[0] + 1)
        else:
            continue
        claims.groups.remove(group)
        sheet.take(group.start, group.end)


def _against(sheet: Sheet, claims: Claims, group: Group) -> Claim | None:
    """The claim that the group is contrasted with: `dropout of 0.1 help compared to 0`."""
    if not (sheet.low(group.start - 1) in _AGAINST and len(group.elements) == 1):
        return None
    before = [claim for claim in claims.of("setting") if 0 <= group.start - claim.group.end <= 6]
    return before[-1] if before else None


def _extend(claims: Claims, claim: Claim, group: Group) -> None:
    whole = Group((*claim.group.elements, *group.elements), claim.group.start, claim.group.end)
    claims.made[claims.made.index(claim)] = Claim(claim.place, claim.kind, claim.name, whole, claim.right)


def _is_list(sheet: Sheet, group: Group) -> bool:
    several = group.span is not None or len(group.elements) > 1
    added = sheet.low(group.start - 1) == "," and sheet.is_a(group.start - 2, "setting")
    return several or added or sheet.is_a(group.start - 1, "verb", "join")


def _nearest(sheet: Sheet, loose: Sequence[tuple[int, str]], group: Group) -> tuple[int, str] | None:
    if sheet.low(group.start - 1) in ("=", ":") and sheet.kind(group.start - 2) == "word":
        return None
    known = [
        (place, name)
        for place, name in loose
        if _long(sheet.terms[place]) and sheet.free(place) and scale_of(name) != "switch"
    ]
    before = [owner for owner in known if 0 <= group.start - owner[0] < 25]
    after = [owner for owner in known if 0 <= owner[0] - group.end < 12]
    return before[-1] if before else after[0] if after else None


def _long(term: Term) -> bool:
    return len(term.text) > 1
