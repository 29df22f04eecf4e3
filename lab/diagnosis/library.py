"""Loading signature files, shipped or a lab's own, and testing each signature on its own examples.

BadSignature                 a signature file can't be used; the message names the file, the entry and the mend
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from lab.diagnosis.anchors import anchors
from lab.diagnosis.model import Retry
from lab.diagnosis.signature import CategoryRule, Condition, Pattern, Signature, Signatures, Variant, Verdict
from lab.diagnosis.taxonomy import ACTIONS, CATEGORIES, RETRIES, ROLES
from lab.errors import LabError

_SHIPPED = "lab.diagnosis.signatures"
_PLACES = frozenset({"line", "exception", "frame"})
_PARTS = frozenset({"line", "message", "frames", "last-frames", "near", "log", "exit", "gpu"})
_VERDICT = frozenset({"transient", "retry", "actions", "needs_human"})
_KEYS = _VERDICT | {
    *("id", "category", "role", "pattern", "source", "says", "place", "weight", "unless", "only", "variants"),
    *("explains", "examples", "not", "anchors"),
}
_VARIANT_KEYS = _VERDICT | {"when", "category", "says", "weight"}
_MACRO = re.compile(r"\{\{(\w+)\}\}")


class BadSignature(LabError):
    """A signature file is unreadable or contradicts itself."""


class _Entry:
    """One mapping of a file, read with errors that name it."""

    def __init__(self, where: str, data: Mapping[str, Any], words: Mapping[str, str], checked: bool) -> None:
        self.where, self.data, self.words, self.checked = where, data, words, checked

    def bad(self, what: str, mend: str) -> BadSignature:
        return BadSignature(f"{self.where}: {what}.", next_step=mend)

    def known(self, keys: frozenset[str] | set[str]) -> None:
        for key in self.data:
            if key not in keys:
                raise self.bad(f"unknown key {key!r}", f"Use one of: {', '.join(sorted(keys))}.")

    def choice(self, key: str, among: frozenset[str], default: str | None = None) -> str:
        value = self.data.get(key, default)
        if value not in among:
            raise self.bad(f"{key} is {value!r}", f"Set {key} to one of: {', '.join(sorted(among))}.")
        return str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key, ())
        values = cast("list[Any]", [value] if isinstance(value, str) else list(value))
        return tuple(str(one) for one in values)

    def pattern(self, text: str) -> Pattern:
        def expand(found: re.Match[str]) -> str:
            word = self.words.get(found[1])
            if word is None:
                raise self.bad(f"unknown word {found[0]}", f"Known: {', '.join(sorted(self.words))}.")
            return word

        found = Pattern(_MACRO.sub(expand, text))
        try:
            if self.checked:
                found.search("")
        except re.error as error:
            raise self.bad(f"the pattern {text!r} is no regular expression ({error})", "Mend the pattern.") from error
        return found

    def verdict(self) -> Verdict:
        actions = self.texts("actions")
        for action in actions:
            if action not in ACTIONS:
                raise self.bad(f"unknown action {action!r}", f"Use one of: {', '.join(sorted(ACTIONS))}.")
        retry = cast("Retry", self.choice("retry", RETRIES)) if "retry" in self.data else None
        return Verdict(self.data.get("transient"), retry, actions or None, self.data.get("needs_human"))


@lru_cache(maxsize=8)
def library(extra: tuple[Path, ...] = ()) -> Signatures:
    """The shipped signatures with a lab's own; an id of the lab's own takes the place of the shipped one."""
    rules, words = _rules(), _words()
    found: dict[str, Signature] = {}
    for name, text in _shipped():
        for signature in _parse(name, text, words, checked=False):
            if signature.id in found:
                raise BadSignature(f"{name}: the id {signature.id!r} is used twice.", next_step="Rename one.")
            found[signature.id] = signature
    for path in extra:
        for signature in _parse(str(path), _read(path), words):
            found[signature.id] = signature
    return Signatures(tuple(found.values()), rules)


def problems(path: Path) -> list[str]:
    """What is wrong with a signature file, in words; every signature must match its examples and not its counter-examples."""
    try:
        signatures = _parse(str(path), _read(path), _words())
    except BadSignature as error:
        return [str(error)]
    return [problem for signature in signatures for problem in example_problems(signature, str(path))]


def example_problems(signature: Signature, where: str) -> list[str]:
    """A signature's own examples that it gets wrong, and the lack of any."""
    found: list[str] = []
    if not signature.examples:
        found.append(f"{where}: {signature.id} has no examples. Add the line that it is meant for.")
    for example in signature.examples:
        if not any(signature.match(line) for line in example.splitlines()):
            found.append(f"{where}: {signature.id} does not match its example {example!r}. Mend the pattern.")
        elif not any(word in example.lower() for word in signature.anchors):
            found.append(f"{where}: {signature.id}'s anchors miss its example {example!r}. Mend the anchors.")
    found.extend(
        f"{where}: {signature.id} matches {example!r}, which it must not. Add an `unless` or narrow the pattern."
        for example in signature.counter_examples
        if any(signature.match(line) for line in example.splitlines())
    )
    return found


def _parse(name: str, text: str, words: Mapping[str, str], checked: bool = True) -> list[Signature]:
    data = _yaml(name, text)
    entries = cast("dict[str, Any]", data).get("signatures") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise BadSignature(
            f"{name}: there is no list of `signatures`.", next_step="See the shipped files for the form."
        )
    source = str(cast("dict[str, Any]", data).get("source", ""))
    found: list[Signature] = []
    for number, entry in enumerate(cast("list[Any]", entries), start=1):
        if not isinstance(entry, dict):
            raise BadSignature(
                f"{name}: entry {number} is no mapping.", next_step="Give it `id`, `category`, `pattern`."
            )
        fields = cast("dict[str, Any]", entry)
        where = f"{name}: {fields.get('id', f'entry {number}')}"
        found.append(_signature(_Entry(where, {"source": source, **fields}, words, checked)))
    return found


def _signature(entry: _Entry) -> Signature:
    entry.known(_KEYS)
    patterns = tuple(entry.pattern(text) for text in entry.texts("pattern"))
    if "id" not in entry.data or not patterns:
        raise entry.bad("`id` and `pattern` are needed", "Add them.")
    role = entry.choice("role", ROLES, "cause")
    given = tuple(word.lower() for word in entry.texts("anchors"))
    sets = [anchors(pattern.text) for pattern in patterns]
    if not given and not all(sets):
        raise entry.bad(
            "the pattern has no fixed words of three letters to look for",
            "Add `anchors`: words of which each match has one.",
        )
    return Signature(
        id=str(entry.data["id"]),
        category=entry.choice("category", CATEGORIES, "no-failure" if role in _SILENT else None),
        role=role,
        patterns=patterns,
        source=str(entry.data["source"]),
        anchors=given or tuple(sorted({word for words in sets for word in words})),
        says=entry.data.get("says"),
        place=entry.choice("place", _PLACES, "line"),
        weight=int(entry.data.get("weight", 70)),
        unless=tuple(entry.pattern(text) for text in entry.texts("unless")),
        conditions=_conditions(entry, entry.data.get("only")),
        variants=tuple(_variant(entry, one) for one in entry.data.get("variants", ())),
        verdict=entry.verdict(),
        explains=frozenset(entry.texts("explains")),
        examples=entry.texts("examples"),
        counter_examples=entry.texts("not"),
    )


_SILENT = frozenset({"benign", "success", "alive", "attempt"})


def _variant(entry: _Entry, data: Mapping[str, Any]) -> Variant:
    inner = _Entry(f"{entry.where}, variants", data, entry.words, entry.checked)
    inner.known(_VARIANT_KEYS)
    category = inner.choice("category", CATEGORIES) if "category" in data else None
    return Variant(
        _conditions(inner, data.get("when")), inner.verdict(), category, data.get("says"), data.get("weight")
    )


def _conditions(entry: _Entry, data: Any) -> tuple[Condition, ...]:
    """`{log: PATTERN, not-log: PATTERN}`: all must hold; `log2` is another pattern for the same part."""
    found: list[Condition] = []
    for key, text in cast("dict[str, Any]", data or {}).items():
        absent = key.startswith("not-")
        place = key.removeprefix("not-").rstrip("23")
        if place not in _PARTS:
            raise entry.bad(f"unknown part {key!r}", f"Use one of: {', '.join(sorted(_PARTS))}, or not-PART.")
        found.append(Condition(place, entry.pattern(str(text)), absent))
    return tuple(found)


def _rules() -> dict[str, CategoryRule]:
    data = _yaml("categories.yaml", _text("categories.yaml"))
    rules: dict[str, CategoryRule] = {}
    for name, rule in cast("dict[str, dict[str, Any]]", data).items():
        entry = _Entry(f"categories.yaml: {name}", rule, {}, checked=False)
        rules[name] = CategoryRule(str(rule["says"]), entry.verdict(), frozenset(entry.texts("causes")))
    return rules


def _words() -> dict[str, str]:
    data = cast("dict[str, list[str]]", _yaml("words.yaml", _text("words.yaml")))
    return {name: "(?:" + "|".join(forms) + ")" for name, forms in data.items()}


def _yaml(name: str, text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, the fast one where it is built
    except yaml.YAMLError as error:
        raise BadSignature(f"{name}: not readable as YAML ({error}).", next_step="Mend the file.") from error


def _shipped() -> list[tuple[str, str]]:
    folder = resources.files(_SHIPPED)
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".yaml"))
    return [(name, _text(name)) for name in names if name not in ("categories.yaml", "words.yaml")]


def _text(name: str) -> str:
    return resources.files(_SHIPPED).joinpath(name).read_text("utf-8")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSignature(f"{path}: can't be read ({error}).", next_step="Give a readable UTF-8 file.") from error
