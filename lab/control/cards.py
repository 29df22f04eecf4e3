"""The cards about failures: what happened, the line that proves it, and what was or can be done."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.cards import Button, ButtonStyle, Card, Field, Tone
from lab.remedies.change import diff_lines
from lab.remedies.choose import Choice
from lab.schema import Attempt, Run
from lab.words import listing, plural

_MOST_TEXT = 300


def repaired_card(run: Run, attempt: Attempt, choice: Choice) -> Card:
    """A failure that is being retried with a change."""
    change = choice.change
    diagnosis: Mapping[str, Any] = attempt.diagnosis or {}
    lines = diff_lines(attempt.settings, change) if change is not None else []
    return Card(
        kind="repair",
        title=f"Run {run.id} failed and is tried again ({run.retries} of {run.max_retries})",
        text=f"{diagnosis.get('root_cause', '')}\n\nChanged: {change.words if change else ''} — {choice.why}.",
        tone=Tone.WARNING,
        fields=_fields(diagnosis, attempt),
        code="\n".join([_proof(diagnosis), *lines]).strip(),
        buttons=_buttons(run),
        footer=change.effect if change else "",
    )


def failed_card(run: Run, attempt: Attempt, choice: Choice, spent: str = "") -> Card:
    """A failure that stays: a person has to act, or all that Labhand can do was tried."""
    diagnosis: Mapping[str, Any] = attempt.diagnosis or {}
    advice = listing([action.replace("-", " ") for action in diagnosis.get("actions", [])[:3]])
    text = f"{diagnosis.get('root_cause', 'It failed; the log does not say why.')}"
    help_line = f"\n\nWhat would help: {advice}." if advice else ""
    return Card(
        kind="failure",
        title=f"Run {run.id} failed",
        text=f"{text}\n\nNot retried: {spent or choice.why}.{help_line}",
        tone=Tone.BAD,
        fields=_fields(diagnosis, attempt),
        code=_proof(diagnosis),
        buttons=(Button("retry_run", "Retry as it was", f"run:{run.id}"), *_buttons(run)),
    )


def siblings_card(run: Run, told: Sequence[int]) -> Card:
    """What mended one cell is given to the like cells that still wait."""
    words = listing(list(run.remedies.get("words", [])))
    runs = listing([str(number) for number in told])
    return Card(
        kind="learned",
        title=f"Learned from run {run.id}",
        text=f"It ran through with {words}. {plural(len(told), 'like cell')} ({runs}) will start with it.",
        tone=Tone.GOOD,
    )


def _fields(diagnosis: Mapping[str, Any], attempt: Attempt) -> tuple[Field, ...]:
    fields = [Field("cause", str(diagnosis.get("category", "unknown")))]
    if attempt.exit_code is not None:
        fields.append(Field("exit code", str(attempt.exit_code)))
    if attempt.signal:
        fields.append(Field("signal", attempt.signal))
    return tuple(fields)


def _proof(diagnosis: Mapping[str, Any]) -> str:
    evidence = diagnosis.get("evidence")
    if not evidence:
        return ""
    text = str(evidence["text"])
    shown = text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
    return f"line {evidence['line']}: {shown}"


def _buttons(run: Run) -> tuple[Button, ...]:
    return (
        Button("show_log", "Show log", f"run:{run.id}"),
        Button("cancel_run", "Stop", f"run:{run.id}", ButtonStyle.DANGER),
    )
