"""What may happen without asking: pure functions from who, what and how much to allow, ask or deny."""

from dataclasses import dataclass
from enum import StrEnum


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


_ALLOW = Decision(Ruling.ALLOW)
_LEAST_ROLE = {
    Effect.READ: (Role.VIEWER, Role.RESEARCHER, Role.APPROVER, Role.ADMIN),
    Effect.WRITE: (Role.RESEARCHER, Role.APPROVER, Role.ADMIN),
    Effect.SPEND: (Role.RESEARCHER, Role.APPROVER, Role.ADMIN),
    Effect.DESTROY: (Role.RESEARCHER, Role.APPROVER, Role.ADMIN),
}


def may(role: Role, effect: Effect, *, owner: bool = True) -> Decision:
    """Whether the role may cause the effect on something of its own, or of another's (`owner` False)."""
    if role not in _LEAST_ROLE[effect]:
        return Decision(Ruling.DENY, f"a {role} may only look.", "Ask an admin of the project for the role researcher.")
    if effect is Effect.DESTROY and not owner and role not in (Role.APPROVER, Role.ADMIN):
        return Decision(Ruling.DENY, "it belongs to somebody else.", "Ask its owner or an approver.")
    return _ALLOW


def may_start(role: Role, size: PlanSize, site: Site) -> Decision:
    """Whether a plan of this size may start, or another person must be asked first."""
    allowed = may(role, Effect.SPEND)
    if allowed.ruling is not Ruling.ALLOW:
        return allowed
    if site.most_runs is not None and size.runs > site.most_runs:
        return Decision(
            Ruling.DENY, f"{size.runs} runs are more than the {site.most_runs} one plan may have.", "Narrow the plan."
        )
    if site.approval_gpus is not None and size.gpus >= site.approval_gpus:
        return Decision(Ruling.ASK, f"{size.gpus} GPUs a run need an approver's word.", "Ask for fewer GPUs a run.")
    if size.gpus and size.gpu_hours_high is None and site.approval_gpu_hours is not None:
        return Decision(Ruling.ASK, "its GPU-hours can't be estimated.", "Give `resources.hours` in the recipe.")
    if site.approval_gpu_hours is not None and (size.gpu_hours_high or 0.0) > site.approval_gpu_hours:
        reason = f"up to {size.gpu_hours_high:.3g} GPU-hours; above {site.approval_gpu_hours:g} an approver decides."
        return Decision(Ruling.ASK, reason, "Drop cells or seeds to stay below it.")
    return _ALLOW


def may_approve(role: Role, *, own: bool) -> Decision:
    """Whether this person may answer an approval."""
    if own:
        return Decision(Ruling.DENY, "nobody approves their own plan.", "Another approver has to click.")
    if role not in (Role.APPROVER, Role.ADMIN):
        return Decision(Ruling.DENY, f"a {role} may not approve.", "An approver or admin of the project has to click.")
    return _ALLOW
