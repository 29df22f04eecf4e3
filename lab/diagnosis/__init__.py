"""Why a job failed, from its log and what the machine knows: the root cause, the line that proves it, what helps.

Nothing heavy is imported here; the work is loaded at the first call.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lab.diagnosis.model import Diagnosis, Evidence, Hints, Value, to_json

if TYPE_CHECKING:
    from lab.diagnosis.signature import Signatures

__all__ = [
    "Diagnosis",
    "Evidence",
    "Hints",
    "Signatures",
    "Value",
    "check_signatures",
    "diagnose",
    "load_signatures",
    "to_json",
]

_NO_HINTS = Hints()


def diagnose(source: bytes | BinaryIO, hints: Hints = _NO_HINTS, signatures: "Signatures | None" = None) -> Diagnosis:
    """Read a log of any size once, in bounded memory, and judge it. Never raises for what the log contains."""
    from lab.diagnosis.expert import examine

    return examine(source, hints, signatures if signatures is not None else load_signatures())


def load_signatures(extra: Sequence[Path] = ()) -> "Signatures":
    """The shipped signatures and a lab's own files. Raises `BadSignature` naming the file, the entry and the mend."""
    from lab.diagnosis.library import library

    return library(tuple(extra))


def check_signatures(path: Path) -> list[str]:
    """What is wrong with a signature file: an empty list when every signature passes its own examples."""
    from lab.diagnosis.library import problems

    return problems(path)


def __getattr__(name: str) -> object:
    if name == "Signatures":
        from lab.diagnosis.signature import Signatures

        return Signatures
    raise AttributeError(name)
