"""A figure of an experiment beside the one that it should be."""

from __future__ import annotations

from typing import Any

from gradiva.experiments.experiment import Row


def checked_row(inputs: dict[str, Any], quantity: str, paper: float, value: float, tolerance: float) -> Row:
    """Return a row that is met when the value is that of the paper.

    Args:
        inputs: What was chosen.
        quantity: Its name and unit.
        paper: What the paper states, or what its equations give.
        value: Ours.
        tolerance: Largest difference, in the unit of the quantity.
    """
    is_met = abs(value - paper) <= tolerance
    return {
        **inputs,
        "quantity": quantity,
        "paper": paper,
        "value": value,
        "outcome": "met" if is_met else "failed",
        "reason": "" if is_met else f"{abs(value - paper):.3g} away, {tolerance:.3g} is allowed",
    }
