"""The parts of a recipe, as frozen values checked on reading."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Setting = str | int | float | bool
_UNITS = {
    "b": 1,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
_SIZE = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?b)\s*$", re.IGNORECASE)


def parse_size(value: object) -> int | None:
    """Bytes from `1GiB`, `512 MB` or a number of bytes. Raises `ValueError`."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    match = _SIZE.match(str(value))
    if match is None:
        raise ValueError(f"{value!r} is no size: write it like 512MiB or 16GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def _compiles(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ValueError(f"the pattern {pattern!r} is no regular expression: {error}") from error
    if groups < 1:
        raise ValueError(f"the pattern {pattern!r} needs one group (…) around the number")
    return pattern


Size = Annotated[int | None, BeforeValidator(parse_size)]
Pattern = Annotated[str, AfterValidator(_compiles)]


class Part(BaseModel):
    """Base of the parts: frozen, and an unknown key is an error, since it is most often a typing error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SettingRule(Part):
    """What one setting may be. `flag` is the script's own argument where it is not `--name-with-dashes`."""

    default: Setting | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[Setting, ...] | None = None
    scale: Literal["linear", "log"] = "linear"
    type: Literal["float", "int", "bool", "str"] | None = None
    flag: str | None = None
    aliases: tuple[str, ...] = ()
    help: str = ""

    @model_validator(mode="after")
    def _sound(self) -> "SettingRule":
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self

    @property
    def kind(self) -> str:
        """`float`, `int`, `bool` or `str`: as written, or read off the default and the choices."""
        if self.type is not None:
            return self.type
        samples = [value for value in (self.default, *(self.choices or ())) if value is not None]
        for name, wanted in (("bool", bool), ("int", int), ("float", (int, float))):
            if samples and all(isinstance(s, wanted) and (name == "bool" or not isinstance(s, bool)) for s in samples):
                if name == "int" and (_fraction(self.low) or _fraction(self.high) or self.scale == "log"):
                    continue
                return name
        return "str" if samples else ("float" if self.low is not None or self.high is not None else "str")


def _fraction(value: float | None) -> bool:
    return value is not None and value != int(value)


class MetricRule(Part):
    """A number that the script prints. The first group of `pattern` is its value; the last match of a run counts."""

    name: str
    goal: Literal["maximize", "minimize"] = "maximize"
    pattern: Pattern
    aliases: tuple[str, ...] = ()


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
    pattern: str = "*"
    signal: str | None = None


class ContainerRule(Part):
    image: str
    network: Literal["none", "host"] = "none"


class CodeRule(Part):
    """Which code is run: a directory (the recipe's own by default), or a repository pinned to a commit."""

    dir: str | None = None
    git: str | None = None
    ref: str | None = None


class Recipe(Part):
    """One experiment that the lab knows. `source` is the file it was read from."""

    name: str
    aliases: tuple[str, ...] = ()
    about: str = ""
    command: str
    style: Literal["argparse", "hf-trainer", "lightning-cli", "hydra", "custom"] = "argparse"
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    settings: Mapping[str, SettingRule] = Field(default_factory=dict)
    metrics: tuple[MetricRule, ...] = ()
    step_pattern: Pattern | None = None
    resources: ResourceRule = ResourceRule()
    checkpoints: CheckpointRule | None = None
    knobs: Mapping[str, str] = Field(default_factory=dict)
    env: Mapping[str, str] = Field(default_factory=dict)
    container: ContainerRule | None = None
    code: CodeRule | None = None
    hang_minutes: float | None = Field(default=None, gt=0)
    source: str = ""

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
        return next((own for own in ("model", "dataset", "seed") if wanted == own), None)

    def snapshot(self) -> dict[str, Any]:
        """The recipe as JSON, kept with each plan so that a later edit of the file changes nothing that runs."""
        return self.model_dump(mode="json")


def plain(name: object) -> str:
    """A name without case, blanks, `-`, `_` and `.`, for comparing what people write."""
    return re.sub(r"[\s\-_.]+", "", str(name)).casefold()
