r"""How the swinging foot moves the ZMP.

The linear inverted pendulum has no angular momentum; a robot that swings a leg has. With :math:`\dot L` the rate of
the centroidal angular momentum, the point through which the pendulum's force passes is not the ZMP but

.. math:: z = z_{pendulum} + \frac{1}{m g} \begin{bmatrix} -\dot L_y \\ \dot L_x \end{bmatrix}

(from the moment balance about the centre of mass). :math:`L` is all but linear in the velocity of the swinging foot:
the inverse kinematics, asked at the start posture to move one foot and to hold the CoM, gives :math:`L = K v`, hence
:math:`\dot L = K a` from the acceleration :math:`a` that the plan gives to the foot. So this is a pure feed-forward:
taken from the commanded motion instead, which holds the feedback of the ZMP, the same correction is a loop that
falls within two steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, ConfigError, FootReference, NDArray, RobotPosture, Side, WalkingReference, sealed
from gradiva.contacts.plain_vectors import Matrix, times
from gradiva.robot_model import IdynTreeModel, as_array
from gradiva.whole_body.inverse_kinematics import InverseKinematics
from gradiva.whole_body.start_posture import standing_reference
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_PROBE = 0.01  # [m/s] foot velocity of the probes, far below every limit
_PERIOD = 0.01  # [s]
_NO_SHIFT = sealed(np.zeros(2))


@dataclass(frozen=True, slots=True)
class SwingMomentumConfig:
    """How much of the shift is believed.

    Attributes:
        share: Of the computed shift, [-]; servos and soles round the planned acceleration off.
    """

    share: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.5:
            raise ConfigError(f"share={self.share}, must be in [0, 1.5]")


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
            config: The share.
            model: The robot.
            inverse_kinematics: That moves it.
            posture: Start posture, facing x, the world between its soles.
            torso: Rotation of the torso frame in it, shape (3, 3).
        """
        self._share = config.share / (model.mass * GRAVITY)
        standing = standing_reference(model, posture, torso)
        self._gains: dict[Side, Matrix] = {
            side: np.column_stack(
                [_momentum(model, inverse_kinematics, posture, _probe(standing, side, axis)) for axis in np.eye(3)]
            ).tolist()
            for side in Side
        }

    def zmp_shift(self, reference: WalkingReference) -> NDArray:
        """Return by how much the swinging foot moves the ZMP (world, [m], shape (2,))."""
        for side, gains in self._gains.items():
            foot = reference.foot(side)
            if not foot.in_contact:
                return self._shift(gains, foot, reference.heading)
        return _NO_SHIFT

    def _shift(self, gains: Matrix, foot: FootReference, heading: float) -> NDArray:
        c, s = math.cos(heading), math.sin(heading)
        ax, ay, az, _, _, _ = foot.acceleration.tolist()
        rate_x, rate_y, _ = times(gains, (c * ax + s * ay, c * ay - s * ax, az))  # of L, in the axes of the heading
        return sealed(np.array((-self._share * (s * rate_x + c * rate_y), self._share * (c * rate_x - s * rate_y))))


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
