"""Putting the parts together: the only module that names concrete backends, surfaces and models."""

import os
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import examples
from agent.offline_model import OfflineModel, vocabulary_of
from agent.providers import LitellmModel, ModelChoice
from agent.tools import all_tools
from agent.turns import Mind
from backends.local import LocalBackend
from bot.settings import Settings
from lab.control.track import track
from lab.home import Home
from lab.people import default_project
from lab.policy import Site
from lab.recipe.files import Shelf, load_shelf
from lab.services import Lab
from lab.store import Store, sqlite_url
from lab.tracking import Tracker, local_tracker


@dataclass(frozen=True)
class House:
    """A lab that is ready to use, with the home it lives in."""

    settings: Settings
    home: Home
    lab: Lab
    owner: str

    def mind(self) -> Mind:
        """The configured model first, the offline mind behind it."""
        offline = OfflineModel(lambda: vocabulary_of(self.lab.shelf()))
        tools = all_tools()
        if self.settings.model is None or self.settings.model == "offline":
            return Mind((offline,), tools)
        choice = ModelChoice(
            self.settings.model, self.settings.model_api_base, self.settings.model_api_key, self.settings.model_timeout
        )
        return Mind((LitellmModel(choice, offline), offline), tools)

    @cached_property
    def _tracker(self) -> Tracker:
        uri = self.settings.mlflow_uri
        return Tracker(uri, lab=str(self.home.root)) if uri else local_tracker(self.home.mlflow, str(self.home.root))

    def tracker(self) -> Tracker:
        """Where MLflow is told of the plans."""
        return self._tracker

    @property
    def tracking_uri(self) -> str:
        """What `mlflow ui --backend-store-uri` opens."""
        return self._tracker.tracking_uri

    def track_now(self) -> None:
        """Bring MLflow up to date at once. Raises `TrackerUnavailable`."""
        track(self.lab, self._tracker)


def build(settings: Settings) -> House:
    """Open the home and its database. Raises `LabError` with the next step when either can't be used."""
    home = Home(settings.home.expanduser())
    home.create()
    store = Store(settings.database_url or sqlite_url(home.database))
    store.migrate()
    backend = LocalBackend(home.jobs, name="local", python=settings.python, cpus=settings.cpus)
    lab = Lab(
        store=store,
        backends={"local": backend},
        default_backend="local",
        shelf=shelf_reader(settings, home),
        images=home.images,
        site=Site(approval_gpu_hours=settings.approval_gpu_hours, approval_gpus=settings.approval_gpus),
    )
    with store.write() as tx:
        default_project(tx, lab.clock())
    return House(settings, home, lab, owner_name())


def shelf_reader(settings: Settings, home: Home) -> Callable[[], Shelf]:
    """Reads the recipes anew on each call, so that a new file needs no restart; the examples come last."""
    directories = [home.recipes, *settings.recipes, examples_dir()]
    return lambda: load_shelf(directories)


def examples_dir() -> Path:
    """Where the example recipes are."""
    return Path(examples.__path__[0])


def owner_name() -> str:
    """Who holds the leases: this process, and no other that ever was."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
