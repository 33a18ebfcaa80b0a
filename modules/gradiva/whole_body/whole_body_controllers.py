"""The seam of layer 3: what a whole-body controller does, the registry; velocity control; joints that others drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    ConfigError,
    ControlMode,
    JointCommand,
    NDArray,
    Registry,
    RobotPosture,
    RobotState,
    nearest_name,
    unchecked,
)
from gradiva.robot_model import RobotDescription
from gradiva.whole_body.inverse_kinematics import PositionController, WalkingKinematics, integrate
from gradiva.whole_body.reference_symbols import Values
from gradiva.whole_body.whole_body_reference import WholeBodyReference


class WholeBodyController(Protocol):
    """Layer 3: from what the body should do to a joint command."""

    @property
    def desired_posture(self) -> RobotPosture:
        """Commanded posture at the end of the last tick."""
        ...

    @property
    def desired_joint_positions(self) -> NDArray:
        """Those of ``desired_posture``, [rad], (n,); asked for in each tick, where the posture may not be computed."""
        ...

    @property
    def desired_velocity(self) -> NDArray:
        """ν of the last tick, (6 + n,)."""
        ...

    def reset(self, posture: RobotPosture) -> None:
        """Begin again, at rest, from the posture that is commanded now."""
        ...

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Args:
            state: Estimated.
            reference: Of the body.
            period: [s].
            relaxed: Where the references contradict each other or the limits, come as near as possible.

        Raises:
            NoSolutionFound: The references contradict each other; nothing has changed.
        """
        ...


class OwnController:
    """A controller of the user's own over the shipped one: it hands on what it does not override.

    ``walking.whole_body`` names it, by an entry point of the group ``gradiva.whole_body_controllers`` or as
    ``package.module:Class``, and ``[whole_body_controllers.NAME]`` is the table of its ``Config``.

    Attributes:
        Config: Dataclass of its table; None without one.
        shipped: The controller that ``walking.control`` chooses.
    """

    Config: ClassVar[type[Any] | None] = None

    def __init__(self, shipped: WholeBodyController, own: Any = None) -> None:
        """Take the shipped controller, and an instance of ``Config``."""
        self.shipped = shipped

    @property
    def desired_posture(self) -> RobotPosture:
        """See ``WholeBodyController.desired_posture``."""
        return self.shipped.desired_posture

    @property
    def desired_joint_positions(self) -> NDArray:
        """See ``WholeBodyController.desired_joint_positions``."""
        return self.shipped.desired_joint_positions

    @property
    def desired_velocity(self) -> NDArray:
        """See ``WholeBodyController.desired_velocity``."""
        return self.shipped.desired_velocity

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self.shipped.reset(posture)

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        return self.shipped.command(state, reference, period, relaxed)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return numbers and vectors to be logged in each tick, by name; the same names and sizes in all ticks."""
        return {}


CONTROLLERS = Registry(
    "gradiva.whole_body_controllers", "whole-body controller", (OwnController,), returns={"command": (JointCommand,)}
)


class VelocityController:
    """Sends joint velocities: the inverse kinematics closes its loop on the estimated state."""

    def __init__(self, inverse_kinematics: WalkingKinematics, posture: RobotPosture) -> None:
        self._inverse_kinematics = inverse_kinematics
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self._inverse_kinematics.problem.reset()
        self.desired_posture = posture
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))

    @property
    def desired_joint_positions(self) -> NDArray:
        """See ``WholeBodyController.desired_joint_positions``."""
        return self.desired_posture.joint_positions

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        measured = RobotPosture(state.base_position, state.base_rotation, state.joint_positions)
        velocity = self._inverse_kinematics.solve(measured, reference, period, relaxed)
        self.desired_posture = integrate(measured, velocity, period)
        self.desired_velocity = velocity
        return JointCommand(ControlMode.VELOCITY, velocity[6:][self._inverse_kinematics.actuated])


def external_joints(names: Sequence[str], description: RobotDescription) -> list[int]:
    """Return the indices of joints that another program drives.

    Raises:
        ConfigError: The robot has no such joint, or it is one of a leg.
    """
    groups = description.joint_groups
    legs = {joint for side in ("left_leg", "right_leg") if side in groups for joint in groups[side].joints}
    for name in names:
        if name not in description.joints:
            raise ConfigError(f"the robot has no joint '{name}'{nearest_name(name, description.joints)}")
        if name in legs:
            raise ConfigError(f"'{name}' is a joint of a leg: walking drives it")
    return [description.joints.index(name) for name in names]


class ExternalKinematics(WalkingKinematics):
    r"""Inverse kinematics of walking with joints that another program drives, such as teleoperated arms.

    Each tick begins with their measured positions and is held to their measured velocities,

    .. math:: s_e = \hat s_e, \qquad \dot s_e = \hat{\dot s}_e,

    so that CoM, feet and trunk are kept by the other joints.

    Attributes:
        moved: Indices of these joints, positions [rad] and velocities [rad/s] of all; None: they are as the others.
    """

    moved: tuple[Sequence[int], NDArray, NDArray] | None = None

    def solve(
        self, state: RobotPosture, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> NDArray:
        """See ``WalkingKinematics.solve``."""
        self._period = period
        return super().solve(state, reference, period, relaxed)

    def _values(self, state: RobotPosture, reference: WholeBodyReference) -> Values:
        values = super()._values(state, reference)
        lower, upper = self.lower_limits.copy(), self.upper_limits.copy()
        if self.moved is not None:
            indices, positions, velocities = self.moved
            lower[indices] = upper[indices] = (positions + self._period * velocities)[indices]
        values["lower_limits"], values["upper_limits"] = lower, upper
        return values


class ExternalJointsController(OwnController):
    """Position or velocity control of a robot some of whose joints another program drives."""

    def __init__(
        self,
        shipped: PositionController | VelocityController,
        kinematics: ExternalKinematics,
        joints: Sequence[int],
    ) -> None:
        """Take the shipped controller, its inverse kinematics and the indices of the joints."""
        self.shipped: PositionController | VelocityController = shipped
        self._kinematics, self._joints = kinematics, list(joints)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self._kinematics.moved = None
        self.shipped.reset(posture)

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        desired = self.shipped.desired_posture
        positions = np.array(desired.joint_positions)
        positions[self._joints] = state.joint_positions[self._joints]
        self._kinematics.moved = self._joints, positions, state.joint_velocities
        self.shipped.desired_posture = unchecked(
            RobotPosture,
            base_position=desired.base_position,
            base_rotation=desired.base_rotation,
            joint_positions=positions,
        )
        return self.shipped.command(state, reference, period, relaxed)
