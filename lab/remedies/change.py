"""A change to a run: an overlay over its settings, never an edit of the user's files."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lab.words import duration, number, size

Json = Mapping[str, Any]
REQUEUE = "requeue"


@dataclass(frozen=True)
class Change:
    """What one remedy alters. `words` says it to a person; `effect` what it should bring.

    `settings` are the script's own (through its knobs), `env` environment variables, `resources` fields of the
    request (`memory_bytes`, `time_limit_s`), `avoid_hosts` machines to stay away from, `resume` whether to go on from
    the last checkpoint.
    """

    action: str
    words: str
    settings: Json = field(default_factory=dict[str, Any])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    resources: Json = field(default_factory=dict[str, Any])
    avoid_hosts: tuple[str, ...] = ()
    resume: bool = False
    effect: str = ""

    @property
    def alters(self) -> bool:
        """Whether anything about the job differs, beside where it goes on from."""
        return bool(self.settings or self.env or self.resources or self.avoid_hosts)

    @property
    def is_retry_as_is(self) -> bool:
        """The same job once more, from its last checkpoint where there is one. It may be repeated; a change may not."""
        return self.action == REQUEUE and not self.alters

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def change_from(data: Json) -> Change:
    """The change that `to_json` wrote."""
    return Change(
        action=data["action"],
        words=data["words"],
        settings=dict(data.get("settings", {})),
        env=dict(data.get("env", {})),
        resources=dict(data.get("resources", {})),
        avoid_hosts=tuple(data.get("avoid_hosts", ())),
        resume=bool(data.get("resume", False)),
        effect=data.get("effect", ""),
    )


def change_digest(change: Change) -> str:
    """The same for changes that do the same, whatever they are called, so that none is tried twice on a run."""
    data = {name: getattr(change, name) for name in ("settings", "env", "resources", "avoid_hosts")}
    if not change.alters:
        data = {"resume": change.resume}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def overlay(remedies: Json, change: Change) -> dict[str, Any]:
    """A run's remedies with one more change on top. Later settings win; hosts and words add up."""
    return {
        **remedies,
        "settings": {**remedies.get("settings", {}), **change.settings},
        "env": {**remedies.get("env", {}), **change.env},
        "resources": {**remedies.get("resources", {}), **change.resources},
        "avoid_hosts": list(dict.fromkeys([*remedies.get("avoid_hosts", []), *change.avoid_hosts])),
        "words": [*remedies.get("words", []), *([] if change.is_retry_as_is else [change.words])],
        "categories": list(remedies.get("categories", [])),
    }


def diff_lines(before: Json, change: Change, env: Mapping[str, str] | None = None) -> list[str]:
    """The change as `-`/`+` lines over the settings and variables before it."""
    lines: list[str] = []
    for name, value in change.settings.items():
        if name in before:
            lines.append(f"- {name} = {number(before[name])}")
        lines.append(f"+ {name} = {number(value)}")
    for name, value in change.env.items():
        if env and name in env:
            lines.append(f"- {name}={env[name]}")
        lines.append(f"+ {name}={value}")
    lines += [_resource_line(name, value) for name, value in change.resources.items()]
    lines += [f"+ avoid {host}" for host in change.avoid_hosts]
    if change.resume:
        lines.append("+ go on from the last checkpoint")
    return lines


def _resource_line(name: str, value: Any) -> str:
    shown = {"memory_bytes": ("memory", size), "time_limit_s": ("time limit", duration)}
    word, say = shown.get(name, (name, number))
    return f"+ {word} = {say(value)}"
