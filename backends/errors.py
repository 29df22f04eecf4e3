"""Errors of the machines.

BackendError
├── JobRejected          the machine's own rules refuse this job; submitting it again changes nothing
│   └── ResourcesUnavailable   no machine of this backend could ever hold it
├── BackendUnreachable   the machine did not answer: nothing is known, nothing may be concluded
├── SubmissionUncertain  the request was sent and the answer lost: only `find(key)` can tell
├── HandleUnknown        the machine answered that it has no such job
└── FileUnavailable      a file of a job is absent or unreadable
"""


class BackendError(Exception):
    """Base of all errors raised by a backend. `next_step` tells a person what to do about it."""

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        super().__init__(message)
        self.next_step = next_step


class JobRejected(BackendError):
    """The job can't run here as it is asked for."""


class ResourcesUnavailable(JobRejected):
    """No machine of this backend has what the job asks for, now or later."""


class BackendUnreachable(BackendError):
    """The machine did not answer in time. The job's state is unknown, not failed."""


class SubmissionUncertain(BackendError):
    """The job may or may not have been started. Ask `find(key)` before any second try."""


class HandleUnknown(BackendError):
    """The machine knows no job under this handle."""


class FileUnavailable(BackendError):
    """The job has no such file, or it can't be read."""
