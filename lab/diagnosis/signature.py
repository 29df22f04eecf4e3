"""Signatures: what software prints, and what an expert makes of it. Plain data, read from YAML."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lab.diagnosis.model import Retry

if TYPE_CHECKING:
    from lab.diagnosis.scan import Scanner

_SHORTEST_TELLING = 5


class Pattern:
    """A regular expression that is compiled when it is first needed: most signatures are never asked."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled: re.Pattern[str] | None = None

    def search(self, text: str) -> re.Match[str] | None:
        """Raises `re.error` where the text is no regular expression."""
        if self._compiled is None:
            self._compiled = re.compile(self.text)
        return self._compiled.search(text)


@dataclass(frozen=True)
class Verdict:
    """What to do about a fault. `None` is "as the category says"."""

    transient: bool | None = None
    retry: Retry | None = None
    actions: tuple[str, ...] | None = None
    needs_human: bool | None = None

    def over(self, other: "Verdict") -> "Verdict":
        """This verdict where it says something, else the other's."""
        return Verdict(
            self.transient if self.transient is not None else other.transient,
            self.retry if self.retry is not None else other.retry,
            self.actions if self.actions is not None else other.actions,
            self.needs_human if self.needs_human is not None else other.needs_human,
        )


@dataclass(frozen=True)
class Condition:
    """A pattern to be found (or, `absent`, not to be found) in one part of the case."""

    place: str
    pattern: Pattern
    absent: bool = False


@dataclass(frozen=True)
class Variant:
    """How the judgement changes where all the conditions hold."""

    conditions: tuple[Condition, ...]
    verdict: Verdict
    category: str | None = None
    says: str | None = None
    weight: int | None = None


@dataclass(frozen=True)
class Signature:
    """One message form of one piece of software. `weight` (0-100) is how surely it names the root."""

    id: str
    category: str
    role: str
    patterns: tuple[Pattern, ...]
    source: str
    anchors: tuple[str, ...]
    says: str | None = None
    place: str = "line"
    weight: int = 70
    unless: tuple[Pattern, ...] = ()
    conditions: tuple[Condition, ...] = ()
    variants: tuple[Variant, ...] = ()
    verdict: Verdict = field(default_factory=Verdict)
    explains: frozenset[str] = frozenset()
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()

    def match(self, text: str) -> re.Match[str] | None:
        """The first pattern that is found, unless a counter-sign is on the line too."""
        for pattern in self.patterns:
            found = pattern.search(text)
            if found is not None:
                return None if any(sign.search(text) for sign in self.unless) else found
        return None


@dataclass(frozen=True)
class CategoryRule:
    """What holds for a category unless a signature says otherwise, and which others it brings about."""

    says: str
    verdict: Verdict
    causes: frozenset[str]


@dataclass(frozen=True)
class Signatures:
    """All signatures in force."""

    all: tuple[Signature, ...]
    categories: Mapping[str, CategoryRule]

    def __iter__(self) -> Iterator[Signature]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    @cached_property
    def by_anchor(self) -> Mapping[str, tuple[Signature, ...]]:
        """For each literal, the signatures that can't match without one of their literals."""
        index: dict[str, list[Signature]] = {}
        for signature in self.all:
            for anchor in signature.anchors:
                index.setdefault(anchor, []).append(signature)
        return {anchor: tuple(found) for anchor, found in index.items()}

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """All anchors, in the order in which the scanner numbers them."""
        return tuple(self.by_anchor)

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The anchors to look for in a log that is too long to keep: those of the signatures that name a fault."""
        found = {word for one in self.all if one.role in ("cause", "system", "end", "clue") for word in one.anchors}
        return tuple(sorted(word for word in found if len(word.encode()) >= _SHORTEST_TELLING))

    @cached_property
    def telling_scanner(self) -> "Scanner":
        """The compiled scan for `telling`."""
        from lab.diagnosis.scan import scanner

        return scanner(self.telling)

    @cached_property
    def scanner(self) -> "Scanner":
        """The compiled scan for `literals`."""
        from lab.diagnosis.scan import scanner

        return scanner(self.literals)
