"""The kept lines of a log with their writers told apart."""

from collections.abc import Iterable
from dataclasses import dataclass

from lab.diagnosis.lines import RawLine
from lab.diagnosis.prefixes import message_of, peel


@dataclass(frozen=True, slots=True)
class Line:
    """One visible line. `stream` names its writer (a rank, a worker, a node), empty when unknown; `body` lacks prefixes."""

    number: int
    text: str
    stream: str
    level: str
    body: str
    after_gap: bool = False

    @property
    def message(self) -> str:
        """The body without its level word."""
        return message_of(self.body) if self.level else self.body


def transcribe(raw: Iterable[RawLine]) -> list[Line]:
    """Peel every line's prefixes."""
    lines: list[Line] = []
    for row in raw:
        prefix = peel(row.text)
        lines.append(Line(row.number, row.text, prefix.stream, prefix.level, prefix.body, row.after_gap))
    return lines
