"""One pass over bytes for a few hundred literals at once.

Hyperscan does it at memory speed; without it every literal is searched for by itself, slower but with the same result.
"""

import importlib
from collections.abc import Sequence
from typing import Any, Protocol


class Scanner(Protocol):
    """Finds which literals occur in a block of bytes. ASCII letters match in either case."""

    def present(self, block: bytes) -> set[int]:
        """The indices of the literals that occur."""
        ...


class PlainScanner:
    """The fallback: one search per literal."""

    def __init__(self, literals: Sequence[str]) -> None:
        self._literals = [literal.lower().encode() for literal in literals]

    def present(self, block: bytes) -> set[int]:
        low = block.lower()
        return {i for i, literal in enumerate(self._literals) if literal in low}


class HyperScanner:
    """Hyperscan in block mode, each literal reported at most once a block."""

    def __init__(self, hyperscan: Any, literals: Sequence[str]) -> None:
        flags = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
        self._database: Any = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(
            expressions=[_escaped(literal.encode()) for literal in literals],
            ids=list(range(len(literals))),
            flags=[flags] * len(literals),
        )

    def present(self, block: bytes) -> set[int]:
        found: set[int] = set()

        def on_match(number: int, *_rest: object) -> None:
            found.add(number)

        self._database.scan(block, match_event_handler=on_match)
        return found


def scanner(literals: Sequence[str]) -> Scanner:
    """The fastest scanner that this machine has."""
    try:
        hyperscan = importlib.import_module("hyperscan")
    except ImportError:
        return PlainScanner(literals)
    return HyperScanner(hyperscan, literals)


def _escaped(literal: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte if byte > 127 or not chr(byte).isalnum() else bytes((byte,)) for byte in literal)
