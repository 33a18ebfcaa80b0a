"""A made-up log of a walk: straight, at constant speed, without error unless asked for."""

import numpy as np

from gradiva.telemetry import SignalLog

PERIOD, SPEED, STEP_TIME = 0.01, 0.2, 0.8  # [s], [m/s], [s]
DOUBLE_SUPPORT = 0.25  # of a step
START, STOP, END = 1.0, 9.0, 13.0  # [s] of walking, and of the log
PARTS = ("estimation", "model_control", "whole_body", "total")


def foot_progress(times, first):
    """Return how far a foot is, [m], shape (T,), which takes every other step from number ``first`` on."""
    step, phase = np.divmod(np.clip(times - START, 0.0, STOP - START) / STEP_TIME, 1.0)
    swing = np.clip((phase - DOUBLE_SUPPORT) / (1.0 - DOUBLE_SUPPORT), 0.0, 1.0)
    return 2.0 * SPEED * STEP_TIME * ((step - first + 1) // 2 + swing * (step % 2 == first))


def walk_log(duration: float = END, **changes) -> SignalLog:
    """Return a log; ``changes`` are functions of the times added to a signal (``::`` written as ``__``)."""
    times = np.arange(0.0, duration, PERIOD)
    progress = SPEED * (np.clip(times, START, STOP) - START)
    on_line = np.column_stack([progress, np.zeros_like(times)])
    in_space = np.column_stack([on_line, np.full_like(times, 0.5)])
    walking = (times >= START) & (times < STOP)
    step = np.floor((times - START) / STEP_TIME).astype(int)
    signals = {
        **{f"{point}::{kind}": on_line for point in ("dcm::position", "zmp") for kind in ("measured", "desired")},
        **{f"com::position::{kind}": in_space for kind in ("measured", "desired")},
        **{
            f"{side}_foot::{what}::{kind}": in_space if what == "position" else 0.0 * in_space
            for side in ("left", "right")
            for what in ("position", "orientation")
            for kind in ("measured", "desired")
        },
        **{
            f"simulation::{side}_foot::position": np.outer(foot_progress(times, first), [1.0, 0.0, 0.0])
            for side, first in (("right", 0), ("left", 1))
        },
        **{f"simulation::{side}_foot::orientation": 0.0 * in_space for side in ("left", "right")},
        **{
            f"simulation::{side}_foot::{what}": np.zeros((len(times), 1))
            for side in ("left", "right")
            for what in ("sinkage", "tilt")
        },
        "odometry::root_link::position": in_space,
        "simulation::root_link::position": in_space,
        "simulation::root_link::orientation": 0.0 * in_space,
        "stance_foot::is_left": (step % 2 == 0).astype(float),
        "walking::is_double_support": (~walking | ((times - START) % STEP_TIME < DOUBLE_SUPPORT * STEP_TIME)).astype(
            float
        ),
        "walking::is_walking": walking.astype(float),
        **{f"tick::{part}": np.full_like(times, 100.0) for part in PARTS},
    }
    for name, change in changes.items():
        signal = name.replace("__", "::")
        signals[signal] = signals[signal] + change(times)
    return SignalLog.from_arrays(times, signals)
