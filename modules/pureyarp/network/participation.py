"""Remembers whether this process takes part in the network: `NetworkLife` sets it, ports ask for it."""

from __future__ import annotations

_has_begun = False


def has_begun() -> bool:
    """Return whether the network was initialised."""
    return _has_begun


def begin() -> None:
    """Take part from now on."""
    global _has_begun
    _has_begun = True


def end() -> None:
    """Take part no longer."""
    global _has_begun
    _has_begun = False
