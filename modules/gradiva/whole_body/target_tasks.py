r"""State tasks whose target one sets: frames, centre of mass, posture; for kinematics and torques alike.

One gain k, [1/s], leads the error e to zero: by kinematics :math:`v^* = v_r + k e`, by torque the critically damped
:math:`a^* = a_r + k^2 e + 2 k \dot e`. Until a target is set, the task holds what is in the first posture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, RobotPosture, nearest_name, readonly, so3
from gradiva.robot_model import IdynTreeModel
from gradiva.whole_body.qp_composer import Priority
from gradiva.whole_body.tasks import (
    Body,
    Gains,
    PoseSymbols,
    Task,
    WeightedTaskConfig,
    frame_acceleration,
    linear_momentum_rate,
    pose_law,
    pose_velocity,
)
from gradiva.whole_body.whole_body_reference import JOINTS, Quantity, Shape, WholeBodyReference


@dataclass(frozen=True, slots=True)
class TargetTaskConfig(WeightedTaskConfig):
    """Configure a task whose target one sets.

    Attributes:
        gain: With which the error decays, [1/s].
    """

    gain: float


class TargetTask(Task):
    """A task that keeps its target; subclasses say what it consists of.

    Attributes:
        PARTS: Shape, unit and meaning of the parts of the target, by name.
        target: Values of the parts; those that are not set yet are missing.
    """

    PARTS: Mapping[str, tuple[Shape, str, str]]

    def __init__(self, name: str, gain: float, weight: float, priority: Priority | str) -> None:
        """Take the gain [1/s], and how binding it is.

        Args:
            name: In errors, and in front of the parts of the target.
            gain: With which the error decays, [1/s].
            weight: Of each square of the residual, against other soft tasks, [-].
            priority: ``soft``, ``hard`` or ``off``.

        Raises:
            ConfigError: A number is negative or none, or the priority is unknown.
        """
        if priority not in [*Priority]:
            raise ConfigError(f"task '{name}': unknown priority '{priority}'{nearest_name(priority, Priority)}")
        try:
            config = TargetTaskConfig(Priority(priority), float(weight), float(gain))
        except (ConfigError, TypeError, ValueError) as error:
            raise ConfigError(f"task '{name}': {error}") from None
        super().__init__(name, config)
        self.target: dict[str, NDArray] = {}

    def reference(self, body: WholeBodyReference) -> Mapping[str, npt.ArrayLike]:
        """Return the parts of the target.

        Raises:
            ConfigError: A part was never set.
        """
        if missing := [part for part in self.PARTS if part not in self.target]:
            wanted = "call set_target(...), or hold(robot, posture)"
            raise ConfigError(f"task '{self.name}' has no target {missing[0]}: {wanted}")
        return {f"{self.name}.{part}": value for part, value in self.target.items()}

    def _take(self, **parts: npt.ArrayLike | None) -> None:
        """Keep parts of the target; those that are None stay as they are.

        Raises:
            ConfigError: One has a wrong shape, is not finite, or is no rotation; the target stays as it was.
        """
        target = dict(self.target)
        for part, value in parts.items():
            try:
                if value is not None:
                    target[part] = readonly(value, self.PARTS[part][0])
                    if not np.isfinite(target[part]).all():
                        raise ValueError("must be finite")
            except (ValueError, TypeError) as error:
                raise ConfigError(f"task '{self.name}': {part}: {error}") from None
        rotation = parts.get("rotation")
        if rotation is not None and not so3.is_rotation(target["rotation"]):
            raise ConfigError(f"task '{self.name}': rotation: is none, R'R must be 1 and det R > 0")
        self.target = target

    def _hold(self, **parts: npt.ArrayLike) -> None:
        """Keep the parts that are not set yet; derivatives begin at zero."""
        rest = {part: np.zeros([size or 0 for size in shape]) for part, (shape, _, _) in self.PARTS.items()}
        self._take(**{part: value for part, value in {**rest, **parts}.items() if part not in self.target})

    def _symbol(self, body: Body, part: str) -> cs.SX:
        return body.reference.own(Quantity(f"{self.name}.{part}", *self.PARTS[part]))

    def _gain(self, body: Body) -> cs.SX:
        return self.constant(body, "gain", self.config.gain)

    def _second_order(self, body: Body) -> Gains:
        """Return k_p and k_d of the critically damped law."""
        gain = self._gain(body)
        return gain**2, 2.0 * gain


class FrameTask(TargetTask):
    """Bring a frame to a pose."""

    PARTS: Mapping[str, tuple[Shape, str, str]] = {
        "position": ((3,), "m", "origin of the frame"),
        "rotation": ((3, 3), "-", "rotation of the frame"),
        "twist": ((6,), "m/s, rad/s", "velocity of the pose, linear then angular"),
        "acceleration": ((6,), "m/s², rad/s²", "its derivative"),
    }

    def __init__(
        self,
        frame: str,
        gain: float = 10.0,
        weight: float = 1.0,
        priority: Priority | str = Priority.SOFT,
        name: str = "",
    ) -> None:
        """Take the frame, by its name in the URDF; for the rest see `TargetTask`, ``name`` is by default the frame's.

        The weight is of each (m/s)² and (rad/s)² by kinematics, of each (m/s²)² and (rad/s²)² by torque.
        """
        super().__init__(name or frame, gain, weight, priority)
        self.frame = frame

    def set_target(
        self,
        position: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        twist: npt.ArrayLike = (0.0,) * 6,
        acceleration: npt.ArrayLike = (0.0,) * 6,
    ) -> None:
        """Set where the frame should be; what is None stays as it is, at first as it is in the first posture.

        Args:
            position: World, [m], shape (3,).
            rotation: World, shape (3, 3).
            twist: Of the moving target, world, mixed, [m/s, rad/s], shape (6,).
            acceleration: Of the moving target, used by torque control, [m/s², rad/s²], shape (6,).

        Raises:
            ConfigError: A part has a wrong shape.
        """
        self._take(position=position, rotation=rotation, twist=twist, acceleration=acceleration)

    def hold(self, robot: IdynTreeModel, posture: RobotPosture) -> None:
        """See ``Task.hold``."""
        if len(self.target) < len(self.PARTS):
            position, rotation = robot.frame_pose(posture, self.frame)
            self._hold(position=position, rotation=rotation)

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        """Return J and v*, see ``pose_velocity``."""
        frame, gain = body.dynamics.frame(self.frame), self._gain(body)
        return frame.jacobian, pose_velocity(frame, self._pose(body), gain, gain)

    def acceleration(self, body: Body) -> cs.SX:
        """Return the residual of ``pose_law``."""
        frame, gains = body.dynamics.frame(self.frame), self._second_order(body)
        return frame_acceleration(frame, body.acceleration) - pose_law(frame, self._pose(body), gains, gains)

    def _pose(self, body: Body) -> PoseSymbols:
        return PoseSymbols(**{part: self._symbol(body, part) for part in self.PARTS})


class PositionTask(FrameTask):
    """Bring the origin of a frame to a place; its orientation is free."""

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        """Return the linear rows of `FrameTask`."""
        jacobian, target = super().velocity(body)
        return jacobian[:3, :], target[:3]

    def acceleration(self, body: Body) -> cs.SX:
        """Return the linear rows of `FrameTask`."""
        return super().acceleration(body)[:3]


class OrientationTask(FrameTask):
    """Turn a frame to an orientation; its place is free."""

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        """Return the angular rows of `FrameTask`."""
        jacobian, target = super().velocity(body)
        return jacobian[3:, :], target[3:]

    def acceleration(self, body: Body) -> cs.SX:
        """Return the angular rows of `FrameTask`."""
        return super().acceleration(body)[3:]


class ComTask(TargetTask):
    """Bring the centre of mass to a place."""

    PARTS: Mapping[str, tuple[Shape, str, str]] = {
        "position": ((3,), "m", "position of the centre of mass"),
        "velocity": ((3,), "m/s", "its velocity"),
        "acceleration": ((3,), "m/s²", "its acceleration"),
    }

    def __init__(
        self,
        gain: float = 10.0,
        weight: float = 1.0,
        priority: Priority | str = Priority.SOFT,
        name: str = "centre of mass",
    ) -> None:
        """See `TargetTask`; the weight is of each (m/s)² by kinematics, of each (m/s²)² by torque."""
        super().__init__(name, gain, weight, priority)

    def set_target(
        self,
        position: npt.ArrayLike | None = None,
        velocity: npt.ArrayLike = (0.0,) * 3,
        acceleration: npt.ArrayLike = (0.0,) * 3,
    ) -> None:
        """Set where the centre of mass should be, world, [m, m/s, m/s²], shape (3,) each; None stays as it is.

        Raises:
            ConfigError: A part has a wrong shape.
        """
        self._take(position=position, velocity=velocity, acceleration=acceleration)

    def hold(self, robot: IdynTreeModel, posture: RobotPosture) -> None:
        """See ``Task.hold``."""
        if len(self.target) < len(self.PARTS):
            self._hold(position=robot.com_position(posture))

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        r"""Return J and v*: :math:`\dot x_r + k (x_r - x)`."""
        error = self._symbol(body, "position") - body.dynamics.com_position
        return body.dynamics.com_jacobian, self._symbol(body, "velocity") + self._gain(body) * error

    def acceleration(self, body: Body) -> cs.SX:
        """Return Σ f / m + g - ẍ*, with ẍ* = ẍ_r + 2 k (ẋ_r - ẋ) + k² (x_r - x)."""
        dynamics, (stiffness, damping) = body.dynamics, self._second_order(body)
        wanted = self._symbol(body, "acceleration")
        wanted = wanted + damping * (self._symbol(body, "velocity") - dynamics.com_velocity)
        wanted = wanted + stiffness * (self._symbol(body, "position") - dynamics.com_position)
        return linear_momentum_rate(dynamics, body.wrenches) / dynamics.mass - wanted


class PostureTask(TargetTask):
    """Bring the actuated joints to positions; light, it decides what other tasks leave open."""

    PARTS: Mapping[str, tuple[Shape, str, str]] = {"positions": ((JOINTS,), "rad", "joint positions")}

    def __init__(
        self,
        gain: float = 1.0,
        weight: float = 1e-3,
        priority: Priority | str = Priority.SOFT,
        name: str = "posture",
    ) -> None:
        """See `TargetTask`; the weight is of each (rad/s)² by kinematics, of each (rad/s²)² by torque."""
        super().__init__(name, gain, weight, priority)

    def set_target(self, positions: npt.ArrayLike) -> None:
        """Set where the joints should be, in the robot's order, [rad], shape (n,).

        Raises:
            ConfigError: It has a wrong shape.
        """
        self._take(positions=positions)

    def hold(self, robot: IdynTreeModel, posture: RobotPosture) -> None:
        """See ``Task.hold``."""
        if not self.target:
            self._take(positions=posture.joint_positions)

    def velocity(self, body: Body) -> tuple[cs.SX, cs.SX]:
        r"""Return J and v*: :math:`k (s_r - s)`."""
        joints, rows = body.dynamics.joints, list(body.dynamics.model.description.actuated)
        target = self._gain(body) * self._error(body)
        return cs.horzcat(cs.SX(joints, 6), cs.SX.eye(joints))[rows, :], target[rows]

    def acceleration(self, body: Body) -> cs.SX:
        r"""Return :math:`\ddot s - k^2 (s_r - s) + 2 k \dot s`."""
        stiffness, damping = self._second_order(body)
        wanted = stiffness * self._error(body) - damping * body.dynamics.joint_velocities
        return (body.acceleration[6:] - wanted)[list(body.dynamics.model.description.actuated)]

    def _error(self, body: Body) -> cs.SX:
        return self._symbol(body, "positions") - body.dynamics.joint_positions
