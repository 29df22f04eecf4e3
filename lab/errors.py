"""Errors of the lab.

LabError                     a person can act on it: the message is for them, `next_step` says how
├── NotFound                 no such plan, run, recipe, thread, user
├── BadRequest               the request contradicts itself or a recipe
│   ├── BadRecipe            a recipe file can't be used
│   └── BadSetting           a setting is unknown or out of its range
├── Conflict                 the state has moved on (already cancelled, already approved, edited since)
│   ├── IllegalTransition    the run's state machine has no such step
│   └── LeaseLost            somebody else holds the work now; the outcome must be dropped
├── NotPermitted             policy says no to this actor
├── ApprovalRequired         policy asks for another person's word first
└── StoreUnavailable         the database can't be opened, read or written
    └── HomeLocked           another process owns this home
"""


class LabError(Exception):
    """Base of the lab's errors. The message is written for the person who asked."""

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        super().__init__(message)
        self.next_step = next_step

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} {self.next_step}" if self.next_step else text


class NotFound(LabError):
    """There is no such thing."""


class BadRequest(LabError):
    """The request can't be carried out as it stands."""


class BadRecipe(BadRequest):
    """A recipe file is missing, unreadable or contradicts itself."""


class BadSetting(BadRequest):
    """A setting is unknown to the recipe or out of its range."""


class Conflict(LabError):
    """The state has moved on since."""


class IllegalTransition(Conflict):
    """The run's state machine has no such step."""


class LeaseLost(Conflict):
    """The lease ran out and somebody else has the work."""


class NotPermitted(LabError):
    """Policy says no to this actor."""


class ApprovalRequired(LabError):
    """Policy asks for another person's word first."""


class StoreUnavailable(LabError):
    """The database can't be opened, read or written."""


class HomeLocked(StoreUnavailable):
    """Another process owns this home."""
