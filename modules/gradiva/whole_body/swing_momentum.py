r"""The angular momentum of the legs, and how that of the swinging one moves the ZMP.

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
from dataclasses import dataclass

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, ConfigError, FootReference, NDArray, RobotPosture, Side, WalkingReference, sealed
from gradiva.contacts.plain_vectors import Matrix, Vector, combination, times
from gradiva.robot_model import IdynTreeModel, as_array
from gradiva.whole_body.inverse_kinematics import InverseKinematics
from gradiva.whole_body.start_posture import standing_reference
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_PROBE = 0.01  # [m/s] foot velocity of the probes, far below every limit
_PERIOD = 0.01  # [s]
_NO_SHIFT = sealed(np.zeros(2))


@dataclass(frozen=True, slots=True)
class SwingMomentumConfig:
    """Scale the shift of the ZMP.

    Attributes:
        gain: Of the computed shift, [-]; servos and soles smooth the planned acceleration.
    """

    gain: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.gain <= 1.5:
            raise ConfigError(f"gain={self.gain}, must be in [0, 1.5]")


class SwingMomentum:
    """Knows the angular momentum per velocity of each foot, in the axes of the heading."""

    def __init__(
        self,
        config: SwingMomentumConfig,
        model: IdynTreeModel,
        inverse_kinematics: InverseKinematics,
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
        self._gain = config.gain / self._weight
        standing = standing_reference(model, posture, torso)
        self._gains: dict[Side, Matrix] = {
            side: np.column_stack(
                [_momentum(model, inverse_kinematics, posture, _probe(standing, side, axis)) for axis in np.eye(3)]
            ).tolist()
            for side in Side
        }
        self._shifted: tuple[WalkingReference | None, NDArray] = None, _NO_SHIFT

    def momentum(self, left: NDArray, right: NDArray, com: NDArray, heading: float) -> NDArray:
        """Return the angular momentum about the CoM of legs that move feet and CoM so (world, [N·m·s], shape (3,)).

        Args:
            left: Twist of the left foot, shape (6,); with accelerations for velocities, the rate is returned, [N·m].
            right: Twist of the right foot.
            com: Velocity of the CoM, shape (3,).
            heading: [rad].
        """
        axis, moving = (math.cos(heading), math.sin(heading)), com.tolist()
        of_left = _in_world(self._gains[Side.LEFT], combination(1.0, left.tolist()[:3], -1.0, moving), axis)
        of_right = _in_world(self._gains[Side.RIGHT], combination(1.0, right.tolist()[:3], -1.0, moving), axis)
        return np.array(combination(1.0, of_left, 1.0, of_right))

    @property
    def shift_gain(self) -> float:
        """Shift of the ZMP for each unit of the rate of the angular momentum, [1/N]."""
        return self._gain

    def gains(self, side: Side) -> NDArray:
        """Return K of one foot: angular momentum for its velocity, axes of the heading ([kg·m], shape (3, 3))."""
        return np.array(self._gains[side])

    def zmp_gains(self, side: Side) -> NDArray:
        """Return by how much a foot's acceleration moves the ZMP, in the axes of the heading ([s²], shape (2, 3))."""
        of_x, of_y, _ = np.array(self._gains[side])
        return np.stack((-of_y, of_x)) / self._weight

    def zmp_shift(self, reference: WalkingReference) -> NDArray:
        """Return by how much the swinging foot moves the ZMP (world, [m], shape (2,)).

        Layers 2 and 3 both ask, of the same reference in torque control: it is computed once.
        """
        if reference is not self._shifted[0]:
            self._shifted = reference, self._zmp_shift(reference)
        return self._shifted[1]

    def _zmp_shift(self, reference: WalkingReference) -> NDArray:
        for side, gains in self._gains.items():
            foot = reference.foot(side)
            if not foot.in_contact:
                return self._shift(gains, foot, reference.heading)
        return _NO_SHIFT

    def _shift(self, gains: Matrix, foot: FootReference, heading: float) -> NDArray:
        axis = (math.cos(heading), math.sin(heading))
        rate_x, rate_y, _ = _in_world(gains, foot.acceleration.tolist()[:3], axis)
        return sealed(np.array((-self._gain * rate_y, self._gain * rate_x)))


def _in_world(gains: Matrix, velocity: Vector, axis: tuple[float, float]) -> Vector:
    """Return K v, in world, of K in the axes of the heading, the first of which is ``axis``, and v in world."""
    (c, s), (vx, vy, vz) = axis, velocity
    x, y, z = times(gains, (c * vx + s * vy, c * vy - s * vx, vz))
    return c * x - s * y, s * x + c * y, z


def _probe(standing: WholeBodyReference, side: Side, axis: NDArray) -> WholeBodyReference:
    """The reference that moves one foot along ``axis`` and holds all else."""
    name = f"{side}_foot"
    fields = {field: getattr(standing, field) for field in standing.__dataclass_fields__}
    foot: FootReference = fields[name]
    twist = np.concatenate((_PROBE * axis, np.zeros(3)))
    fields[name] = FootReference(foot.position, foot.rotation, twist, np.zeros(6), in_contact=False)
    return WholeBodyReference(**fields)


def _momentum(
    model: IdynTreeModel, inverse_kinematics: InverseKinematics, posture: RobotPosture, probe: WholeBodyReference
) -> NDArray:
    """Centroidal angular momentum per foot velocity, [kg·m], shape (3,)."""
    velocity = inverse_kinematics.solve(posture, probe, _PERIOD)
    kinematics: idyn.KinDynComputations = model.kinematics_and_dynamics()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = posture.base_rotation, posture.base_position
    gravity = np.array([0.0, 0.0, -GRAVITY])
    kinematics.setRobotState(pose, posture.joint_positions, velocity[:6], velocity[6:], gravity)
    return as_array(kinematics.getCentroidalTotalMomentum())[3:] / _PROBE
