"""The parts of a recipe, as frozen values checked on reading."""

import re
import shlex
import signal
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lab.recipe.values import Aliases, Names, NumberOrText, Pattern, Setting, Size, Text, plain, twice

ALWAYS_KNOWN = ("model", "dataset", "seed")
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")
_BAD_NAME = re.compile(r"[\s='\"\x00]|^-")


class Part(BaseModel):
    """Base of the parts: frozen, and an unknown key is an error, since it is most often a typing error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SettingRule(Part):
    """What one setting may be. `flag` is the script's own argument where it is not `--name-with-dashes`."""

    default: Setting | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[Setting, ...] | None = None
    scale: Literal["linear", "log"] = "linear"
    type: Literal["float", "int", "bool", "str"] | None = None
    flag: str | None = None
    aliases: Aliases = ()
    help: str = ""

    @model_validator(mode="after")
    def _sound(self) -> "SettingRule":
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        if self.scale == "log" and self.low is not None and self.low <= 0:
            raise ValueError(f"on a log scale low must be above 0, not {self.low:g}")
        if (self.low is not None or self.high is not None) and self.kind in ("bool", "str"):
            raise ValueError(f"low and high bound a number, and this is a {self.kind}")
        return self

    @field_validator("choices")
    @classmethod
    def _offers(cls, choices: tuple[Setting, ...] | None) -> tuple[Setting, ...] | None:
        if choices is None:
            return None
        if not choices:
            raise ValueError("choices must offer something")
        if len({isinstance(choice, bool) for choice in choices}) > 1:
            raise ValueError("YAML reads a bare on, off, yes or no as true or false: put quotes around such words")
        if len(set(choices)) < len(choices):
            raise ValueError("a choice is listed twice")
        return choices

    @property
    def kind(self) -> str:
        """`float`, `int`, `bool` or `str`: as written, or read off the default and the choices."""
        if self.type is not None:
            return self.type
        samples = [value for value in (self.default, *(self.choices or ())) if value is not None]
        if not samples:
            return "float" if self.low is not None or self.high is not None or self.scale == "log" else "str"
        if all(isinstance(sample, bool) for sample in samples):
            return "bool"
        if not all(isinstance(s, int | float) and not isinstance(s, bool) for s in samples):
            return "str"
        whole = all(isinstance(sample, int) for sample in samples)
        searched_in_fractions = self.choices is None and (
            self.scale == "log" or _fraction(self.low) or _fraction(self.high)
        )
        return "int" if whole and not searched_in_fractions else "float"


def _fraction(value: float | None) -> bool:
    return value is not None and value != int(value)


class MetricRule(Part):
    """A number that the script prints. The first group of `pattern` is its value; the last match of a run counts."""

    name: Text
    goal: Literal["maximize", "minimize"] = "maximize"
    pattern: Pattern
    aliases: Aliases = ()


class ResourceRule(Part):
    """What one run asks for, and what to expect of its length in hours."""

    gpus: int = Field(default=0, ge=0)
    gpu_type: str | None = None
    cpus: int = Field(default=1, ge=1)
    memory: Size = None
    hours: float | None = Field(default=None, gt=0)
    time_limit_hours: float | None = Field(default=None, gt=0)
    nodes: int = Field(default=1, ge=1)


class CheckpointRule(Part):
    """Where the script saves, how it is told to go on, and which signal makes it save at once."""

    dir: str = "checkpoints"
    resume: str | None = None
    pattern: Text = "*"
    signal: str | None = None

    @field_validator("dir")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ValueError(f"{value!r} must name a directory inside the run's own work directory")
        return value

    @field_validator("signal")
    @classmethod
    def _is_signal(cls, value: str | None) -> str | None:
        name = value.upper().removeprefix("SIG") if value is not None else None
        if name is not None and f"SIG{name}" not in signal.Signals.__members__:
            raise ValueError(f"{value!r} is no signal: write it like USR1 or TERM")
        return name


class ContainerRule(Part):
    image: Text
    network: Literal["none", "host"] = "none"


class CodeRule(Part):
    """Which code is run: a directory (the recipe's own by default), or a repository pinned to a commit."""

    dir: str | None = None
    git: str | None = None
    ref: str | None = None


class Recipe(Part):
    """One experiment that the lab knows. `source` is the file it was read from."""

    name: Text
    aliases: Aliases = ()
    about: str = ""
    command: Text
    style: Literal["argparse", "hf-trainer", "lightning-cli", "hydra", "custom"] = "argparse"
    models: Names = ()
    datasets: Names = ()
    settings: Mapping[str, SettingRule] = Field(default_factory=dict)
    metrics: tuple[MetricRule, ...] = ()
    step_pattern: Pattern | None = None
    resources: ResourceRule = ResourceRule()
    checkpoints: CheckpointRule | None = None
    knobs: Mapping[str, Text] = Field(default_factory=dict)
    env: Mapping[str, NumberOrText] = Field(default_factory=dict)
    container: ContainerRule | None = None
    code: CodeRule | None = None
    hang_minutes: float | None = Field(default=None, gt=0)
    source: str = ""

    @field_validator("settings")
    @classmethod
    def _setting_names(cls, settings: Mapping[str, SettingRule]) -> Mapping[str, SettingRule]:
        for name in settings:
            if not plain(name) or _BAD_NAME.search(name):
                raise ValueError(f"{name!r} can't be the name of a setting: no blanks, quotes, `=` or leading dash")
        again = twice([n for own, rule in settings.items() for n in _own_names(own, rule.aliases)])
        if again is not None:
            raise ValueError(f"two settings answer to {again!r}")
        return settings

    @field_validator("metrics")
    @classmethod
    def _metric_names(cls, metrics: tuple[MetricRule, ...]) -> tuple[MetricRule, ...]:
        again = twice([n for metric in metrics for n in _own_names(metric.name, metric.aliases)])
        if again is not None:
            raise ValueError(f"two metrics answer to {again!r}")
        return metrics

    @model_validator(mode="after")
    def _command_sound(self) -> "Recipe":
        try:
            parts = shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"the command {self.command!r} can't be split into words: {error}") from error
        unknown = [n for part in parts for n in placeholders(part) if n not in (*self.settings, *ALWAYS_KNOWN)]
        if unknown:
            raise ValueError(f"the command asks for {{{unknown[0]}}}, which is no setting")
        return self

    @property
    def primary_metric(self) -> MetricRule | None:
        """The metric that decides which cell is best: the first one listed."""
        return self.metrics[0] if self.metrics else None

    def metric(self, name: str) -> MetricRule | None:
        """The metric of that name or alias, compared without case, blanks, `-` and `_`."""
        wanted = plain(name)
        return next((m for m in self.metrics if wanted in {plain(n) for n in (m.name, *m.aliases)}), None)

    def setting_name(self, name: str) -> str | None:
        """The recipe's own name of a setting given by name or alias; `model`, `dataset` and `seed` are always known."""
        wanted = plain(name)
        for own, rule in self.settings.items():
            if wanted in {plain(n) for n in (own, *rule.aliases)}:
                return own
        return next((own for own in ALWAYS_KNOWN if wanted == own), None)

    def snapshot(self) -> dict[str, Any]:
        """The recipe as JSON, kept with each plan so that a later edit of the file changes nothing that runs."""
        return self.model_dump(mode="json")


def placeholders(text: str) -> list[str]:
    """The names in `{name}`; `${name}` is a variable of somebody else's."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{name}` replaced once; what a value itself holds is never read as a placeholder."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _own_names(name: str, aliases: tuple[str, ...]) -> list[str]:
    return sorted({plain(n) for n in (name, *aliases)})
