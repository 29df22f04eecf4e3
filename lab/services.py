"""What the lab's use cases work with, put together once at the edge."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backends.base import Backend
from lab.clock import Clock, utc_now
from lab.errors import NotFound
from lab.policy import Role, Site
from lab.recipe.files import Shelf
from lab.store import Store


@dataclass(frozen=True)
class Actor:
    """Who acts, as the surface verified it, and from where (`source` names the message or the click)."""

    user_id: int
    name: str
    role: Role = Role.RESEARCHER
    source: str = ""


@dataclass(frozen=True)
class Lab:
    """The database, the machines, the recipes and the clock."""

    store: Store
    backends: Mapping[str, Backend]
    default_backend: str
    shelf: Callable[[], Shelf]
    images: Path
    site: Site = field(default_factory=Site)
    clock: Clock = utc_now

    def backend(self, name: str) -> Backend:
        """The backend of that name. Raises `NotFound`."""
        found = self.backends.get(name)
        if found is None:
            known = ", ".join(self.backends)
            raise NotFound(f"There is no backend {name}.", next_step=f"Known ones: {known}.")
        return found
