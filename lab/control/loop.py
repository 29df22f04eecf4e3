"""One turn of the control loop."""

from lab.control.dispatch import Worker, abandon_foreign_leases, dispatch, recover
from lab.control.finish import post_results
from lab.control.observe import observe
from lab.control.track import track
from lab.plans.steps import expire_approvals
from lab.services import Lab
from lab.tracking import Tracker


class Controller:
    """Drives the runs of a lab. Ticks never overlap; everything it knows is in the database."""

    def __init__(self, lab: Lab, owner: str, tracker: Tracker | None = None, lease_s: float = 30.0) -> None:
        self._lab = lab
        self._worker = Worker(owner, lease_s)
        self._tracker = tracker

    def take_over(self) -> None:
        """At the start of the only process on this home: what others held is free again."""
        if self._lab.store.url.startswith("sqlite"):
            abandon_foreign_leases(self._lab, self._worker.owner)

    def tick(self) -> bool:
        """Recover, look, submit, post; returns whether anything moved."""
        moved = recover(self._lab, self._worker)
        moved += observe(self._lab)
        moved += dispatch(self._lab, self._worker)
        moved += post_results(self._lab)
        moved += expire_approvals(self._lab)
        return moved > 0

    def track(self) -> None:
        """Bring MLflow up to date. Raises what the tracker raises; nothing else waits for it."""
        if self._tracker is not None:
            track(self._lab, self._tracker)
