"""The model that a board has of a motor in torque control."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pureyarp.wire.elements import Element

_log = logging.getLogger("pureyarp")

_FIELDS = (
    "bemf",
    "bemf_scale",
    "ktau",
    "ktau_scale",
    "viscousPos",
    "viscousNeg",
    "coulombPos",
    "coulombNeg",
    "velocityThres",
)


class MotorTorqueParameters:
    """The model that a board has of a motor in torque control, in the board's own units.

    Attributes:
        bemf: Back electromotive force.
        bemf_scale: Scale of the former.
        ktau: Torque constant.
        ktau_scale: Scale of the former.
        viscousPos: Viscous friction at positive velocity.
        viscousNeg: At negative velocity.
        coulombPos: Coulomb friction at positive velocity.
        coulombNeg: At negative velocity.
        velocityThres: Below which there is no friction.
    """

    def __init__(self) -> None:
        """Know nothing of the motor: all zero."""
        self.bemf = 0.0
        self.bemf_scale = 0.0
        self.ktau = 0.0
        self.ktau_scale = 0.0
        self.viscousPos = 0.0
        self.viscousNeg = 0.0
        self.coulombPos = 0.0
        self.coulombNeg = 0.0
        self.velocityThres = 0.0


def torque_parameters_to_items(parameters: MotorTorqueParameters) -> list[Element]:
    """Return the fields in the order in which they travel."""
    return [float(getattr(parameters, name)) for name in _FIELDS]


def fill_torque_parameters(parameters: MotorTorqueParameters, values: Sequence[Element]) -> bool:
    """Take the fields in the order in which they travel; False, and a line, when they are not all numbers."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) != len(_FIELDS):
        _log.error("the board answers %s as torque parameters, not %d numbers", values, len(_FIELDS))
        return False
    for name, value in zip(_FIELDS, numbers, strict=True):
        setattr(parameters, name, float(value))
    return True
