"""Find the keys of a setup whose values are not those that are shipped for its robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gradiva.common import WalkingError
from gradiva.setup.load_setup import MODULE_TABLES, Setup, load_setup
from gradiva.simulation import ground_name

CHOSEN = ("walking.control", "simulation.ground.kind")
"""Keys that bring shipped files along."""
OPTIONS: Mapping[str, str] = {
    "walking.control": "control",
    "walking.model": "model",
    "step_adaptation.mode": "step-adaptation",
    "simulation.ground.kind": "ground",
    "simulation.viscoelastic.stiffness": "stiffness",
    "simulation.viscoelastic.damping": "damping",
    "simulation.ground.slope_forward": "slope",
    "simulation.ground.slope_left": "slope",
}
"""Options of ``gradiva walk`` by the key that each sets, always and alone, as those of links and durations do not."""
_ANGLES = ("simulation.ground.slope_forward", "simulation.ground.slope_left", "simulation.model_errors.floor_slope")
_WITHOUT_EFFECT = ("robot", "plant", "run", *MODULE_TABLES)


def changed_keys(setup: Setup) -> dict[str, Any]:
    """Return the keys whose values are not those of the robot on this plant, ``table.key`` to value.

    What a choice of control or of ground brings along is shipped with it.
    """
    now, shipped = flat_keys(setup.tables), shipped_values(setup)
    changed = {key: value for key, value in now.items() if key not in shipped or shipped[key] != value}
    changed |= {key: changed.pop(key) for key in CHOSEN if key in changed}  # the last ones
    return {key: value for key, value in changed.items() if key.partition(".")[0] not in _WITHOUT_EFFECT}


def changed_in_words(setup: Setup, *tables: str) -> str:
    """Return the keys of some tables whose values are not those of the robot as shipped, with both values.

    Empty where the robot cannot be loaded any more: it was walked.
    """
    try:
        changed, shipped = changed_keys(setup), shipped_values(setup)
    except WalkingError:
        return ""
    keys = [key for key in changed if key.startswith(tables)]
    return ", ".join(setting_in_words(key, changed[key], shipped.get(key)) for key in keys)


def shipped_values(setup: Setup) -> dict[str, Any]:
    """Return all keys of the robot on this plant as shipped, with what its choices bring along, ``table.key`` to value.

    The choices themselves have the values of a robot that is loaded without any.
    """
    now = flat_keys(setup.tables)
    usual = flat_keys(load_setup(setup.robot_argument, plant=setup.plant).tables)
    chosen = {key: now[key] for key in CHOSEN if key in now and now[key] != usual.get(key)}
    if not chosen:
        return usual
    values = flat_keys(load_setup(setup.robot_argument, chosen, plant=setup.plant).tables)
    return values | {key: usual[key] for key in chosen if key in usual}


def flat_keys(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of tables by ``table.key``."""
    flat: dict[str, Any] = {}
    for name, value in tables.items():
        flat |= (
            flat_keys(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": _plain(value)}
        )
    return flat


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def setting_in_words(key: str, value: Any, shipped: Any) -> str:
    """Return a key with its value, or the option that sets it, and with the shipped value where there is one."""
    was = f" (shipped {_shown(key, shipped)})" if shipped is not None else ""
    return f"{_setter(key)}{_shown(key, value)}{was}"


def as_shipped(key: str, shipped: Any) -> str:
    """Return how to have the shipped value of a key again: by its option where there is one."""
    return f"{_setter(key)}{_shown(key, shipped)}" if key in OPTIONS and shipped is not None else f"{key} as shipped"


def _setter(key: str) -> str:
    return f"--{OPTIONS[key]} " if key in OPTIONS and key not in _ANGLES else f"{key} = "


def _shown(key: str, value: Any) -> str:
    """Return a value in words: slopes in degrees, grounds by their names, a time in physics steps with this unit."""
    if key in _ANGLES:
        return f"{math.degrees(value):.3g}°"
    if key == "simulation.ground.kind":
        return ground_name(value)
    if key == "simulation.ground.contact_time":
        return f"{value:.4g} physics steps"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
