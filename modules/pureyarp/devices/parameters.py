"""Parameters of devices, read from what a PolyDriver is opened with."""

from __future__ import annotations

from pureyarp.data.values import Bottle, Searchable
from pureyarp.errors import SettingsError

CARRIERS = ("udp", "tcp", "fast_tcp")


def text(config: Searchable, key: str) -> str:
    """Return a parameter that must be there, or raise SettingsError."""
    value = config.find(key)
    if value.isNull() or not value.asString():
        raise SettingsError(f"the device needs the parameter {key!r}")
    return value.asString()


def number(config: Searchable, key: str, default: float) -> float:
    """Return a positive number, or raise SettingsError."""
    if not config.check(key):
        return default
    value = config.find(key).asFloat64()
    if not value > 0.0:
        raise SettingsError(f"{key}={config.find(key).toString()} must be a positive number")
    return value


def carrier(config: Searchable, key: str, default: str) -> str:
    """Return the name of a carrier that devices can use, or raise SettingsError."""
    name = config.find(key).asString() if config.check(key) else default
    if name not in CARRIERS:
        raise SettingsError(f"{key}={name!r} is no carrier for devices (valid: {', '.join(CARRIERS)})")
    return name


def switch(config: Searchable, key: str) -> bool | None:
    """Return whether ``on`` or ``off`` is said, None for neither, or raise SettingsError."""
    if not config.check(key):
        return None
    word = config.find(key).asString()
    if word not in ("on", "off"):
        raise SettingsError(f"{key}={word!r} must be on or off")
    return word == "on"


def texts(config: Searchable, key: str) -> list[str]:
    """Return a list of names that must not be empty, or raise SettingsError."""
    listed = config.find(key).asList() if config.check(key) else None
    names = _strings(listed)
    if not names:
        raise SettingsError(f"the device needs the parameter {key!r}, a list of names such as (a b)")
    return names


def _strings(listed: Bottle | None) -> list[str]:
    if listed is None:
        return []
    return [listed.get(index).asString() for index in range(listed.size())]
