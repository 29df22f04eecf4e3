"""Errors of the tracking.

LabError
└── TrackerUnavailable       MLflow can't be reached or written; nothing is lost, the next sync makes up for it
"""

from lab.errors import LabError


class TrackerUnavailable(LabError):
    """MLflow did not take what it was given. The database holds everything, so sync again later."""
