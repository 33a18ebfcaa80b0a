"""Find the keys of a setup whose values are not those that are shipped for its robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradiva.common import WalkingError
from gradiva.setup.load_setup import MODULE_TABLES, Setup, load_setup

CHOSEN = ("walking.control", "simulation.ground.kind")
"""Keys that bring shipped files along."""
_WITHOUT_EFFECT = ("robot", "plant", "run", *MODULE_TABLES)


def changed_keys(setup: Setup) -> dict[str, Any]:
    """Return the keys whose values are not those of the robot on this plant, ``table.key`` to value.

    What a choice of control or of ground brings along is shipped with it.
    """
    now = flat_keys(setup.tables)
    chosen = {key: now[key] for key in CHOSEN if key in now}
    shipped = shipped_values(setup, chosen)
    plain_values = shipped_values(setup)
    changed = {key: value for key, value in now.items() if key not in shipped or shipped[key] != value}
    changed |= {key: value for key, value in chosen.items() if plain_values.get(key) != value}
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


def shipped_values(setup: Setup, chosen: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return all keys of the robot on this plant, as shipped but for choices, ``table.key`` to value."""
    return flat_keys(load_setup(setup.robot_argument, chosen or {}, plant=setup.plant).tables)


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
    """Return a key with its value, and with the shipped one where there is one."""
    texts = [f"{each:.4g}" if isinstance(each, float) else str(each) for each in (value, shipped)]
    return f"{key} = {texts[0]}" + (f" (shipped {texts[1]})" if shipped is not None else "")
