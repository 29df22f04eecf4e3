"""MLflow as a projection of the database: what a researcher sees there is what the lab's own rows say.

The default store is MLflow's own local one, kept under the lab's home: a SQLite file with artifacts in a directory
beside it. `mlflow ui --backend-store-uri sqlite:///HOME/mlflow/mlflow.db` opens it; a tracking server will do too.
"""

from lab.tracking.errors import TrackerUnavailable
from lab.tracking.tracker import Tracked, Tracker, local_tracker
from lab.tracking.values import MetricRow, PlanView, RunView

__all__ = ["MetricRow", "PlanView", "RunView", "Tracked", "Tracker", "TrackerUnavailable", "local_tracker"]
