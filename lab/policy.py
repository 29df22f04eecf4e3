"""What may happen without asking: pure functions from who, what and how much to allow, ask or deny."""

import math
from dataclasses import dataclass
from enum import StrEnum

from lab.words import hours_words, listing, plural


class Role(StrEnum):
    VIEWER = "viewer"
    RESEARCHER = "researcher"
    APPROVER = "approver"
    ADMIN = "admin"


class Effect(StrEnum):
    """What a use case does to the world; the model's tools carry the same names."""

    READ = "read"
    WRITE = "write"
    SPEND = "spend"
    DESTROY = "destroy"


class Ruling(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class Decision:
    """A ruling with the reason a person understands, and what would change it."""

    ruling: Ruling
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Site:
    """The lab's own limits. `None` switches a limit off."""

    approval_gpu_hours: float | None = 50.0
    approval_gpus: int | None = 8
    approval_expires_hours: float = 48.0
    most_runs: int | None = 500
    max_retries: int = 3


@dataclass(frozen=True)
class PlanSize:
    """How large a plan is; hours at the high end of the estimate, `None` when nobody can tell."""

    runs: int
    gpus: int
    gpu_hours_high: float | None


_ABLE = {
    Effect.READ: frozenset(Role),
    Effect.WRITE: frozenset({Role.RESEARCHER, Role.APPROVER, Role.ADMIN}),
    Effect.SPEND: frozenset({Role.RESEARCHER, Role.APPROVER, Role.ADMIN}),
    Effect.DESTROY: frozenset({Role.RESEARCHER, Role.APPROVER, Role.ADMIN}),
}
_APPROVERS = frozenset({Role.APPROVER, Role.ADMIN})


def may(role: Role, effect: Effect, *, owner: bool = True) -> Decision:
    """Whether the role may cause the effect on something of its own, or of another's (`owner` False)."""
    if role not in _ABLE[effect]:
        return Decision(Ruling.DENY, f"a {role} may only look.", "Ask an admin of the project for the role researcher.")
    if effect is Effect.DESTROY and not owner and role not in _APPROVERS:
        return Decision(Ruling.DENY, "it belongs to somebody else.", "Ask its owner or an approver.")
    whose = "its own" if owner else "another's"
    return Decision(
        Ruling.ALLOW, f"{effect} is allowed to the role {role} on {whose}.", "Another role would change it."
    )


def may_start(role: Role, size: PlanSize, site: Site) -> Decision:
    """Whether a plan of this size may start, or another person must be asked first."""
    allowed = may(role, Effect.SPEND)
    if allowed.ruling is not Ruling.ALLOW:
        return allowed
    if size.runs < 1:
        return Decision(Ruling.DENY, "the plan has no runs.", "Name at least one value for each setting.")
    if site.most_runs is not None and size.runs > site.most_runs:
        reason = f"{size.runs} runs are more than the {site.most_runs} that one plan may have."
        return Decision(Ruling.DENY, reason, f"Drop cells or seeds until {site.most_runs} are left.")
    return _by_gpus(size, site) or _by_hours(size, site) or _within(site)


def _by_gpus(size: PlanSize, site: Site) -> Decision | None:
    most = site.approval_gpus
    if most is None or size.gpus < most or not size.gpus:
        return None
    fewer = f"Ask for fewer than {most} GPUs a run" if most > 1 else "Ask for no GPU"
    return Decision(
        Ruling.ASK,
        f"{plural(size.gpus, 'GPU')} a run; from {most} on an approver decides.",
        f"{fewer} to start at once.",
    )


def _by_hours(size: PlanSize, site: Site) -> Decision | None:
    most, hours = site.approval_gpu_hours, size.gpu_hours_high
    if most is None or not size.gpus:
        return None
    if hours is None or not math.isfinite(hours):
        remedy = "Give `resources.hours` in the recipe, or let one run end first."
        return Decision(Ruling.ASK, "its GPU-hours can't be estimated, so an approver decides.", remedy)
    if hours <= most:
        return None
    reason = f"up to {hours_words(hours)} GPU-hours; above {most:g} an approver decides."
    return Decision(Ruling.ASK, reason, f"Drop cells or seeds until it stays below {most:g} GPU-hours.")


def _within(site: Site) -> Decision:
    limits = [f"{site.approval_gpus} GPUs a run"] if site.approval_gpus is not None else []
    limits += [f"{site.approval_gpu_hours:g} GPU-hours"] if site.approval_gpu_hours is not None else []
    if not limits:
        return Decision(Ruling.ALLOW, "this lab asks nobody before a start.", "Limits in the lab's settings change it.")
    return Decision(
        Ruling.ALLOW, "it stays within what starts without asking.", f"From {listing(limits)} on an approver is asked."
    )


def may_approve(role: Role, *, own: bool) -> Decision:
    """Whether this person may answer an approval."""
    if own:
        return Decision(Ruling.DENY, "nobody approves their own plan.", "Another approver has to click.")
    if role not in _APPROVERS:
        return Decision(Ruling.DENY, f"a {role} may not approve.", "An approver or admin of the project has to click.")
    return Decision(Ruling.ALLOW, f"the role {role} answers for other people's plans.", "A plan of their own is no.")
