"""The one object that reads the environment. Every name here is documented in docs/SETTINGS.md and `.env.example`."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

PREFIX = "LABHAND_"


class SettingsError(Exception):
    """A setting can't be used. The message names it and says what it may be."""


class Settings(BaseModel):
    """All settings of a process, frozen. A field `home` is read from `LABHAND_HOME`, and so on."""

    model_config = ConfigDict(frozen=True)

    home: Path = Field(default_factory=lambda: Path.home() / ".labhand", description="Where all state lives.")
    database_url: str | None = Field(None, description="PostgreSQL instead of the SQLite file in the home.")
    recipes: tuple[Path, ...] = Field((), description="More directories with recipes, separated by colons.")
    python: Path = Field(Path(sys.executable), description="The Python that recipes' `python` means on this machine.")
    cpus: int | None = Field(None, ge=1, description="CPU cores that runs on this machine may use; all by default.")
    model: str | None = Field(None, description="Language model in litellm's form provider/model; none by default.")
    model_api_base: str | None = Field(None, description="Address of the model's service where it is not the usual.")
    model_api_key: str | None = Field(None, description="Key of the model's service.")
    model_timeout: float = Field(60.0, gt=0, description="Seconds to wait for one answer of the model.")
    web_port: int = Field(8642, ge=0, le=65535, description="Port of the local chat page on 127.0.0.1; 0 picks one.")
    mlflow_uri: str | None = Field(None, description="MLflow tracking server; the home's own store by default.")
    approval_gpu_hours: float | None = Field(50.0, ge=0, description="Plans above this ask an approver; empty: never.")
    approval_gpus: int | None = Field(8, ge=1, description="Runs with so many GPUs ask an approver; empty: never.")
    user: str = Field("me", description="Who you are on the command line and the local page.")
    role: str = Field("admin", description="Your role there: viewer, researcher, approver or admin.")
    tick_seconds: float = Field(1.0, gt=0, le=60, description="Seconds between two looks at the machines.")
    log_level: str = Field("WARNING", description="How much the process logs to its own log file.")


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the environment. Raises `SettingsError`."""
    source = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for name in Settings.model_fields:
        text = source.get(PREFIX + name.upper())
        if text is None:
            continue
        if name == "recipes":
            values[name] = tuple(Path(part) for part in text.split(":") if part)
        else:
            values[name] = text.strip() or None
    values = {k: v for k, v in values.items() if v is not None or k.startswith("approval_")}
    unknown = [key for key in source if key.startswith(PREFIX) and key[len(PREFIX) :].lower() not in _KNOWN]
    if unknown:
        raise SettingsError(f"{unknown[0]} is no setting of Labhand. See docs/SETTINGS.md for those there are.")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + str(first["loc"][0]).upper()
        raise SettingsError(f"{name}={first['input']!r} can't be used: {first['msg']}.") from error


def setting_lines() -> list[tuple[str, str, str]]:
    """Name, default and meaning of every setting, for the docs and `--help`."""
    rows: list[tuple[str, str, str]] = []
    for name, field in Settings.model_fields.items():
        default = {"home": "~/.labhand", "python": "the one Labhand runs in"}.get(name, field.default)
        shown = "" if default in (None, ()) else str(default)
        rows.append((PREFIX + name.upper(), shown, field.description or ""))
    return rows


_OUTSIDE = ("attempt_dir", "key")
"""Set by Labhand for a job, so that a job may itself call `labhand`."""
_KNOWN = {*Settings.model_fields, *_OUTSIDE}
