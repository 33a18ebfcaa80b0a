r"""References of layer 3, from the plan and layer 2, with the angular momentum of the legs.

The linear inverted pendulum has no angular momentum; a robot that swings a leg has. With :math:`\dot L` the rate of
the centroidal angular momentum, the point through which the pendulum's force passes is not the ZMP but

.. math:: z = z_{pendulum} + \frac{1}{m g} \begin{bmatrix} -\dot L_y \\ \dot L_x \end{bmatrix}

(from the moment balance about the centre of mass). :math:`L` is all but linear in the velocity of the swinging foot:
the inverse kinematics, asked at the start posture to move one foot and to hold the CoM, gives :math:`L = K v`, hence
:math:`\dot L = K a` from the acceleration :math:`a` that the plan gives to the foot. So this is a pure feed-forward:
taken from the commanded motion instead, which holds the feedback of the ZMP, the same correction is a loop that
falls within two steps.

A robot that moves feet and CoM alike turns nothing, so with both feet's gains all is known of legs that walk:

.. math:: L = K_l (v_l - \dot x) + K_r (v_r - \dot x)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import casadi as cs
import numpy as np

from gradiva.common import (
    GRAVITY,
    FootReference,
    NDArray,
    RobotPosture,
    Side,
    WalkingReference,
    altered,
    configuration,
    sealed,
    setting,
    so3,
)
from gradiva.robot_model import Compiler, FlatFunction, IdynTreeModel, built_once, interpreted, symbolic_rotation_z
from gradiva.simplified_model import BalanceReference
from gradiva.walking.pendulum_forces import (
    pendulum_force,
    pendulum_jerk,
    pendulum_wrenches,
    plane_of_stance,
    zmp_points_of,
)
from gradiva.whole_body import WalkingKinematics, WholeBodyReference, probed_momentum, standing_reference

_PROBE = 0.01  # [m/s] foot velocity of the probes, far below every limit
_NO_SHIFT = sealed(np.zeros(2))


@configuration
class SwingMomentumConfig:
    """Scale the shift of the ZMP.

    Attributes:
        gain: Of the computed shift, [-]; servos and soles smooth the planned acceleration.
    """

    gain: float = setting("-", least=0.0, most=1.5)


class SwingMomentum:
    """Knows the angular momentum per velocity of each foot, in the axes of the heading.

    Attributes:
        shift_gain: Shift of the ZMP for each unit of the rate of the angular momentum, [1/N].
    """

    def __init__(
        self,
        config: SwingMomentumConfig,
        model: IdynTreeModel,
        inverse_kinematics: WalkingKinematics,
        posture: RobotPosture,
        torso: NDArray,
    ) -> None:
        """Probe the robot.

        Args:
            config: The gain.
            model: The robot.
            inverse_kinematics: That moves it.
            posture: Start posture, facing x, the world between its soles.
            torso: Rotation of the torso frame in it, shape (3, 3).
        """
        self._weight = model.mass * GRAVITY
        self.shift_gain = config.gain / self._weight
        standing = standing_reference(model, posture, torso)
        self._gains: dict[Side, list[list[float]]] = {
            side: np.column_stack(
                [
                    probed_momentum(model, inverse_kinematics, posture, _probe(standing, side, axis)) / _PROBE
                    for axis in np.eye(3)
                ]
            ).tolist()
            for side in Side
        }

    def gains(self, side: Side) -> NDArray:
        """Return K of one foot: angular momentum for its velocity, axes of the heading ([kg·m], shape (3, 3))."""
        return np.array(self._gains[side])

    def zmp_gains(self, side: Side) -> NDArray:
        """Return by how much a foot's acceleration moves the ZMP, in the axes of the heading ([s²], shape (2, 3))."""
        of_x, of_y, _ = np.array(self._gains[side])
        return np.stack((-of_y, of_x)) / self._weight

    def zmp_shift(self, reference: WalkingReference) -> NDArray:
        """Return by how much the swinging foot moves the ZMP (world, [m], shape (2,))."""
        for side, gains in self._gains.items():
            foot = reference.foot(side)
            if not foot.in_contact:
                turn = math.cos(reference.heading), math.sin(reference.heading)
                return sealed(np.array(leg_shift(self.shift_gain, gains, foot.acceleration.tolist(), *turn)))
        return _NO_SHIFT


def leg_shift(gain: Any, gains: Sequence[Sequence[Any]], acceleration: Any, cosine: Any, sine: Any) -> tuple[Any, Any]:
    r"""Return by how much a foot in the air moves the ZMP (world, x and y, [m]); of expressions, expressions.

    .. math:: \frac{k}{m g} \begin{bmatrix} -\dot L_y \\ \dot L_x \end{bmatrix}, \qquad \dot L = R K R^\top a

    Args:
        gain: k / (m g), [1/N].
        gains: K, rows of x and y first, [kg·m], shape (3, 3).
        acceleration: a, world, [m/s²]; its first three are used.
        cosine: Of the heading, whose rotation is R.
        sine: Of the heading.
    """
    (a, b, c), (d, e, f), _ = gains
    x, y, z = acceleration[0], acceleration[1], acceleration[2]
    x, y = cosine * x + sine * y, cosine * y - sine * x  # in the axes of the heading
    rate_x, rate_y = a * x + b * y + c * z, d * x + e * y + f * z
    return -gain * (sine * rate_x + cosine * rate_y), gain * (cosine * rate_x - sine * rate_y)


def _probe(standing: WholeBodyReference, side: Side, axis: NDArray) -> WholeBodyReference:
    """The reference that moves one foot along ``axis`` and holds all else."""
    name = f"{side}_foot"
    fields = {field: getattr(standing, field) for field in standing.__dataclass_fields__}
    foot: FootReference = fields[name]
    twist = np.concatenate((_PROBE * axis, np.zeros(3)))
    fields[name] = FootReference(foot.position, foot.rotation, twist, np.zeros(6), in_contact=False)
    return WholeBodyReference(**fields)


_FOOT = {"position": (3, 1), "rotation": (3, 3), "twist": (6, 1), "acceleration": (6, 1), "in_contact": (1, 1)}
_OUTPUTS = (
    "com_acceleration",
    "com_jerk",
    "angular_momentum",
    "angular_momentum_rate",
    "zmp",
    "trunk_angular_velocity",
    "trunk_angular_acceleration",
    "left_foot_wrench",
    "right_foot_wrench",
)


class BodyReferences:
    r"""Computes the references of layer 3 by one function.

    The force of the pendulum is split over the feet by ``pendulum_wrenches``. With ω² = σ/η the jerk of the planned
    CoM is :math:`\omega^2 (\dot x - \dot z)`: feedback, which is not smooth, has no part in it. The angular momentum of
    the legs is that of ``SwingMomentum``.
    """

    def __init__(
        self,
        mass: float,
        start_posture: RobotPosture,
        torso_rotation: NDArray,
        zmp_offset: tuple[float, float],
        swing_momentum: SwingMomentum,
        inverse_frequency_offset: float,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the constants.

        Args:
            mass: Of the robot, [kg].
            start_posture: Facing x; joints and pelvis stay near it.
            torso_rotation: In it, shape (3, 3).
            zmp_offset: Nominal ZMP in the frame of the left foot, mirrored for the right one, [m].
            swing_momentum: Of the legs, and the shift of the ZMP by the swinging one.
            inverse_frequency_offset: 1/ω² of the planned pendulum less that of a point above the soles, [s²].
            compiler: How the function becomes fast.
        """
        self._posture = start_posture
        self._torso_rotation = torso_rotation
        self._faced: tuple[float, NDArray, NDArray] | None = None  # the last heading, torso and pelvis in it
        self._function = built_once((_function, compiler), lambda: _function(compiler))
        self._function.set(
            mass=mass,
            zmp_offset=zmp_offset,
            inverse_frequency_offset=inverse_frequency_offset,
            left_momentum_gains=swing_momentum.gains(Side.LEFT),
            right_momentum_gains=swing_momentum.gains(Side.RIGHT),
            shift_gain=swing_momentum.shift_gain,
        )
        self._make = self._function.maker(WholeBodyReference, _OUTPUTS)
        self._feet: dict[str, FootReference | None] = {"left": None, "right": None}

    def reference(self, plan: WalkingReference, desired: BalanceReference) -> WholeBodyReference:
        """Return the reference of layer 3.

        Args:
            plan: At the end of the coming period.
            desired: Of layer 2 until then.
        """
        function, dcm = self._function, plan.dcm
        self._write_foot("left", plan.left_foot)
        self._write_foot("right", plan.right_foot)
        function.set(
            left_is_stance=plan.stance_foot is Side.LEFT,
            heading=plan.heading,
            planned_com_position=plan.com_position,
            planned_com_velocity=plan.com_velocity,
            natural_frequency=dcm.natural_frequency,
            divergence_rate=dcm.divergence_rate,
            dcm_velocity=dcm.velocity,
            dcm_acceleration=dcm.acceleration,
            com_velocity=desired.com_velocity,
            zmp_position=desired.zmp_position,
        )
        function()
        torso_rotation, pelvis_rotation = self._trunk(plan.heading)
        body = self._make(
            time=plan.time,
            left_foot=plan.left_foot,
            right_foot=plan.right_foot,
            com_position=desired.com_position,
            com_velocity=desired.com_velocity,
            torso_rotation=torso_rotation,
            pelvis_rotation=pelvis_rotation,
            posture=self._posture.joint_positions,
            own=_NOTHING,
        )
        if desired.foot_wrenches is None:
            return body
        left, right = desired.foot_wrenches
        acceleration = desired.com_acceleration
        return altered(body, com_acceleration=acceleration, left_foot_wrench=left, right_foot_wrench=right)

    def _trunk(self, heading: float) -> tuple[NDArray, NDArray]:
        """Return the rotations of torso and pelvis; a robot that walks straight on keeps them."""
        if self._faced is None or self._faced[0] != heading:
            turn = so3.rotation_z(heading)
            rotations = sealed(turn.dot(self._torso_rotation)), sealed(turn.dot(self._posture.base_rotation))
            self._faced = heading, *rotations
        return self._faced[1:]

    def _write_foot(self, side: str, foot: FootReference) -> None:
        """Write the inputs of a foot; one that stands keeps its reference from tick to tick."""
        if foot is not self._feet[side]:
            self._function.set(**{f"{side}_{name}": getattr(foot, name) for name in _FOOT})
            self._feet[side] = foot


_NOTHING: Mapping[str, NDArray] = MappingProxyType({})  # own quantities of tasks bring their own values


def _function(compiler: Compiler) -> FlatFunction:
    """Return the function of ``BodyReferences``; its inputs and outputs are named as there."""
    numbers = ("mass", "inverse_frequency_offset", "shift_gain", "left_is_stance", "heading", "natural_frequency")
    inputs = {name: cs.SX.sym(name) for name in (*numbers, "divergence_rate")}
    inputs |= {name: cs.SX.sym(name, 2) for name in ("zmp_offset", "dcm_velocity", "dcm_acceleration", "zmp_position")}
    inputs |= {name: cs.SX.sym(name, 3) for name in ("planned_com_position", "planned_com_velocity", "com_velocity")}
    inputs |= {f"{side}_momentum_gains": cs.SX.sym(f"{side}_momentum_gains", 3, 3) for side in Side}
    feet = {side: {name: cs.SX.sym(f"{side}_{name}", *shape) for name, shape in _FOOT.items()} for side in Side}
    inputs |= {f"{side}_{name}": symbol for side, foot in feet.items() for name, symbol in foot.items()}
    turn = symbolic_rotation_z(inputs["heading"])
    plane = plane_of_stance(inputs["left_is_stance"], feet)
    zmp = inputs["zmp_position"] + _zmp_shift(inputs, feet, turn)
    force = pendulum_force(inputs, plane)
    left, right = pendulum_wrenches(force, zmp, [*feet.values()], zmp_points_of(inputs["zmp_offset"], feet), plane)
    acceleration = force / inputs["mass"] - cs.vertcat(0.0, 0.0, GRAVITY)
    outputs = {
        "com_acceleration": acceleration,
        "com_jerk": pendulum_jerk(inputs),
        "angular_momentum": _momentum(inputs, feet, "twist", inputs["com_velocity"], turn),
        "angular_momentum_rate": _momentum(inputs, feet, "acceleration", acceleration, turn),
        "zmp": zmp,
        "trunk_angular_velocity": _mean_turn(feet, "twist"),
        "trunk_angular_acceleration": _mean_turn(feet, "acceleration"),
        "left_foot_wrench": left,
        "right_foot_wrench": right,
    }
    return FlatFunction("body_references", inputs, outputs, compiler)


def _zmp_shift(inputs: dict[str, cs.SX], feet: dict[Side, dict[str, cs.SX]], turn: cs.SX) -> cs.SX:
    """Return by how much the foot in the air moves the ZMP, [m]; see ``leg_shift``."""
    shift = cs.SX(2, 1)
    for side in reversed(Side):  # the left one first, where both are in the air
        foot, gains = feet[side], [cs.horzsplit(row) for row in cs.vertsplit(inputs[f"{side}_momentum_gains"])]
        swung = leg_shift(inputs["shift_gain"], gains, foot["acceleration"], turn[0, 0], turn[1, 0])
        shift = cs.if_else(foot["in_contact"], shift, cs.vertcat(*swung))
    return shift


def _momentum(
    inputs: dict[str, cs.SX], feet: dict[Side, dict[str, cs.SX]], motion: str, com: cs.SX, turn: cs.SX
) -> cs.SX:
    """Return the angular momentum of the legs, or its rate; see the head of this file."""
    total = cs.SX(3, 1)
    for side, foot in feet.items():
        total += turn @ (inputs[f"{side}_momentum_gains"] @ (turn.T @ (foot[motion][:3] - com)))
    return total


def _mean_turn(feet: dict[Side, dict[str, cs.SX]], motion: str) -> cs.SX:
    """Return the mean about the vertical of the feet's twists, or of their rates."""
    return cs.vertcat(0.0, 0.0, 0.5 * (feet[Side.LEFT][motion][5] + feet[Side.RIGHT][motion][5]))
