"""What is asked of the rows of an experiment, and whether it came."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

COM_LIMIT = 0.010  # [m] a walk whose CoM is ever farther from its reference keeps its balance, but does not track
INACCURATE = "inaccurate"
"""Outcome of a walk beyond that limit."""

_SUCCESSES = ("walked", "met")


class Asked(StrEnum):
    """What a row has under ``asked``; a row without it must succeed, whatever that is in its experiment."""

    TO_TRACK = "to track"
    """To walk with the CoM within the limit."""
    TO_WALK = "to walk"
    """To walk, however far the CoM is off: where even ground that is known would not keep it."""
    AS_FOUND = "as found"
    """A limit is looked for, or a controller compared: whatever comes is an answer."""


def judged(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return outcome and reason of a walk, `INACCURATE` when it walked with the CoM beyond `COM_LIMIT`.

    Args:
        figures: In the shape of ``result.json``; without an error of the CoM where there was no plan.
    """
    outcome, reason = str(figures["outcome"]), str(figures["reason"])
    error = figures.get("com_error_m", {}).get("max")
    if outcome != "walked" or error <= COM_LIMIT:
        return outcome, reason
    return INACCURATE, f"{but_com(error)}, {1e3 * COM_LIMIT:.0f} mm is the limit"


def but_com(error: float) -> str:
    """Return what tables and figures say of a walk with this error of the CoM [m]."""
    return f"walked, but CoM {1e3 * error:.1f} mm"


def is_fulfilled(row: Mapping[str, Any]) -> bool:
    """Return whether a row with ``outcome``, and perhaps ``asked``, is as it should be."""
    asked, outcome = row.get("asked"), row["outcome"]
    return asked == Asked.AS_FOUND or outcome in _SUCCESSES or (asked == Asked.TO_WALK and outcome == INACCURATE)
