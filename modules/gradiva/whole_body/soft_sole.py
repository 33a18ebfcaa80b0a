"""Express one sole on soft ground in symbols: its present wrench, the wrench's rate, and their values in a tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as cs
import numpy.typing as npt

from gradiva.common import EstimationError, RobotState, Side, SoleRectangle
from gradiva.contacts import LoadedEdge, SoleMoments, ViscoElasticEquations, loaded_part, normal_pressure
from gradiva.robot_model import SymbolicFrame
from gradiva.whole_body.reference_symbols import Parameters
from gradiva.whole_body.walking_tasks import frame_acceleration

_NAMES = {
    side: tuple(f"{side}_{name}" for name in ("rest_position", "rest_rotation", "stiffness", "damping"))
    for side in Side
}


@dataclass
class ContactSymbols:
    """Symbols of the contact of one foot; see ``FootContact``.

    Attributes:
        measured_wrench: About the sole origin, world axes, (6, 1).
        wrench_age: How long ago it was measured, in periods, [-].
        wrench_gain: Of the low pass from the last wrench to it, 1 without a low pass, [-].
        last_wrench: Of the last period, (6, 1).
        last_regressor: Of the last period, (6, 2).
        rest_position: (3, 1).
        rest_rotation: (3, 3).
        stiffness: [N/m³].
        damping: [N·s/m³].
    """

    measured_wrench: cs.SX
    wrench_age: cs.SX
    wrench_gain: cs.SX
    last_wrench: cs.SX
    last_regressor: cs.SX
    rest_position: cs.SX
    rest_rotation: cs.SX
    stiffness: cs.SX
    damping: cs.SX

    @classmethod
    def of(cls, side: Side, parameters: Parameters) -> ContactSymbols:
        """Make the symbols of one foot."""
        return cls(
            measured_wrench=parameters.symbol(f"{side}_measured_wrench", 6),
            wrench_age=parameters.symbol(f"{side}_wrench_age"),
            wrench_gain=parameters.symbol(f"{side}_wrench_gain"),
            last_wrench=parameters.symbol(f"{side}_last_wrench", 6),
            last_regressor=parameters.symbol(f"{side}_last_regressor", 6, 2),
            rest_position=parameters.symbol(f"{side}_rest_position", 3),
            rest_rotation=parameters.symbol(f"{side}_rest_rotation", 3, 3),
            stiffness=parameters.symbol(f"{side}_stiffness"),
            damping=parameters.symbol(f"{side}_damping"),
        )


class SoleFace(NamedTuple):
    """Bottom of a sole, in the sole frame.

    Attributes:
        corners: Counter-clockwise from above, [m].
        height: [m].
    """

    corners: list[tuple[float, float]]
    height: float

    @classmethod
    def of(cls, sole: SoleRectangle, side: Side) -> SoleFace:
        """Return that of one foot from the rectangle of the left sole."""
        return cls([(x, y) for x, y in sole.corners(side).tolist()], sole.z)


class SoftSole:
    """One sole on its ground.

    Attributes:
        regressor: Y of wrench = Y [k, b], (6, 2).
        wrench: Of now, about the sole origin, world axes, (6, 1).
    """

    def __init__(self, sole: SymbolicFrame, face: SoleFace, contact: ContactSymbols, is_loaded: cs.SX) -> None:
        """Take the sole's frame, what touches the ground, what it feels, and 1 where it carries load, else 0."""
        self._sole = sole
        self._contact = contact
        motion = (
            _scalars(sole.position),
            _rows_of_scalars(sole.rotation),
            _scalars(sole.twist),
            _scalars(contact.rest_position),
            _rows_of_scalars(contact.rest_rotation),
        )
        pressure = normal_pressure(face.height, _scalars(cs.vertcat(contact.stiffness, contact.damping)), *motion)
        (area, x, y, xx, xy, yy, height), (start, end, mobility) = loaded_part(face.corners, pressure, face.height)
        loaded: list[Any] = [is_loaded * one for one in (area, x, y, xx, xy, yy, mobility)]
        edge = LoadedEdge(start, end, loaded.pop())
        self._equations = ViscoElasticEquations(SoleMoments._make((*loaded, height)), *motion, edge)
        spring, damper = ([cs.SX(value) for value in column] for column in self._equations.regressor())
        self.regressor = cs.horzcat(cs.vertcat(*spring), cs.vertcat(*damper))
        self.wrench = self._present_wrench()

    def wrench_rate(self, acceleration: cs.SX, held: cs.SX) -> cs.SX:
        r"""Return :math:`\dot f = h + g (J \dot\nu + \dot J \nu)`, [N/s, N·m/s], (6, 1).

        Solved for the acceleration a of a sole with the velocity v, :math:`a = -(\dot f / A + k v) / (b + k T / 2)`
        with T the time for which a acts, it is a velocity loop. Behind a delay d of sensors and motors it is stable for
        :math:`d < \tfrac{\pi}{2} (b / k + T / 2)`: with T a control period, ground of b/k = 5 ms and less leaves no
        margin for a robot. Where a acts from d on, T is longer by 2 d, and the loop tolerates the delay on any ground.

        Args:
            acceleration: ν̇.
            held: T, for which it acts, [s].
        """
        contact = self._contact
        stiffness, damping, duration = _scalars(cs.vertcat(contact.stiffness, contact.damping, held))
        drift = cs.vertcat(*self._equations.drift(stiffness, damping))
        gain = cs.vertcat(*(cs.horzcat(*row) for row in self._equations.gain(stiffness, damping, duration)))
        return drift + gain @ frame_acceleration(self._sole, acceleration)

    def _present_wrench(self) -> cs.SX:
        r"""The measured wrench, and by how much the ground's model says that it has changed since.

        On ground that damps much a wrench follows the velocity of the sole at once: one that is half a millisecond old
        makes the robot fall. A low pass takes noise from the measurement y, and leaves alone what the model says: with
        the last wrench :math:`\hat f`, the change :math:`\Delta` by the model in a period, and the age a of y in
        periods,

        .. math:: \hat f \leftarrow \hat f + \Delta + \alpha (y + a \Delta - \hat f - \Delta)
        """
        contact = self._contact
        change = (self.regressor - contact.last_regressor) @ cs.vertcat(contact.stiffness, contact.damping)
        predicted, measured = contact.last_wrench + change, contact.measured_wrench + contact.wrench_age * change
        return predicted + contact.wrench_gain * (measured - predicted)


def contact_values(side: Side, state: RobotState) -> dict[str, npt.ArrayLike]:
    """Return the values of the symbols of one foot but its wrench.

    Raises:
        EstimationError: The contacts are not estimated.
    """
    contact = state.foot_contact(side)
    if contact is None:
        raise EstimationError(f"the contact of the {side} foot is not estimated; control on soft ground needs it")
    values = (contact.rest_position, contact.rest_rotation, contact.stiffness, contact.damping)
    return dict(zip(_NAMES[side], values, strict=True))


def _scalars(column: cs.SX) -> list[Any]:
    """The entries, which the equations of the ground take for numbers."""
    return cs.vertsplit(column)


def _rows_of_scalars(matrix: cs.SX) -> list[list[Any]]:
    return [cs.horzsplit(row) for row in cs.vertsplit(matrix)]
