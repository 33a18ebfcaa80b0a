"""Solvers of bipedal-locomotion-framework behind a pipe: its interpreter must not meet this one's libraries."""

from gradiva.blf.process import (
    TICK_LIMIT,
    WAIT,
    Backend,
    BackendError,
    BackendLost,
    BackendRefusal,
    BlfConfig,
    WorkerProcess,
    find_python,
    imported_version,
)
from gradiva.blf.worker import quaternion

__all__ = [
    "TICK_LIMIT",
    "WAIT",
    "Backend",
    "BackendError",
    "BackendLost",
    "BackendRefusal",
    "BlfConfig",
    "WorkerProcess",
    "find_python",
    "imported_version",
    "quaternion",
]
