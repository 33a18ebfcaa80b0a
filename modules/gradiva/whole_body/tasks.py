r"""State the tasks of the whole body: one class a task, with its configuration, its references and its rows.

By kinematics a task has rows :math:`J` and a velocity :math:`v^*`: it is the constraint :math:`J \nu = v^*` when hard,
the cost :math:`\| J \nu - v^* \|^2_\Lambda` when soft (thesis section 7.1.1). By torque it is a residual that is affine
in :math:`\dot\nu` or in the foot wrenches :math:`f_k` (thesis section 7.2). Those of walking stand in `walking_tasks`.

A task from outside of the package is a subclass of `Task` that states ``velocity`` (position and velocity control),
``acceleration`` (torque control) or both. A table ``[tasks.NAME]`` of the configuration names it, as an entry point of
the group ``gradiva.tasks`` or by ``class = "package.module:Class"``; or it is given as an object:
``SimulatedWalk(setup, tasks=[...])``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, Registry, RobotPosture, Side, plugin_errors
from gradiva.robot_model import IdynTreeModel, SymbolicDynamics, SymbolicFrame, symbolic_log
from gradiva.whole_body.qp_composer import Priority, QpComposer
from gradiva.whole_body.reference_symbols import FootSymbols, Parameters, ReferenceSymbols
from gradiva.whole_body.whole_body_reference import WholeBodyReference

Gains = tuple[cs.SX, cs.SX]
"""k_p [1/s²] and k_d [1/s]."""
Wrenches = Mapping[str, cs.SX]
"""Ground on robot, about the origin of the frame of a contact, world axes, by name of the contact, (6, 1) each."""
Frames = Mapping[str, SymbolicFrame]
"""Frames of contacts, by name; those of a walking robot are its soles, called by their `Side`."""


class TaskConfig(Protocol):
    """Configuration of a task: its priority and its weight at least."""

    @property
    def priority(self) -> Priority:
        """Return hard, soft or off."""
        ...

    @property
    def weight(self) -> float | NDArray:
        """Return the weight of each square of the residual, when soft or relaxed, [-]."""
        ...


class Body:
    """Everything in which a task may state its rows: the robot, its references and its parameters.

    Attributes:
        dynamics: Expressions of the robot.
        feet: Frames of the contacts by name: of a walking robot the soles, by side.
        parameters: All inputs of the problem.
        reference: Symbols of the references, by the names of `WholeBodyReference`.
        acceleration: ν̇, (6 + n, 1); torque control only, as the following.
        wrenches: Ground on foot, about the sole origin, world axes, by name of the contact, (6, 1) each.
        torques: Of the actuated joints, [N·m], (a, 1).
    """

    def __init__(self, dynamics: SymbolicDynamics, contacts: Mapping[str, str] | None = None) -> None:
        """Make the expressions; ``contacts`` are frames by name, by default the soles of both feet by side."""
        if contacts is None:
            contacts = {side: dynamics.model.description.foot_frame(side) for side in Side}
        self.dynamics = dynamics
        self.feet: Frames = {name: dynamics.frame(frame) for name, frame in contacts.items()}
        self.parameters = Parameters()
        self.reference = ReferenceSymbols(dynamics.joints, self.parameters, contacts)
        self.acceleration: cs.SX
        self.wrenches: Wrenches
        self.torques: cs.SX


class Task:
    """One thing that the whole body should do; subclass it to add one.

    Attributes:
        Config: Type of the task's table in the configuration; None where it is given as an object alone.
        name: In errors, in ``violations()`` and in front of its parameters.
        priority: Hard, soft or off.
        weight: Of each square of the residual, when soft or relaxed.
    """

    Config: ClassVar[type[Any] | None] = None

    def __init__(self, name: str, config: TaskConfig) -> None:
        """Take the configuration: of type ``Config``, with a priority and a weight at least.

        Raises:
            ConfigError: It lacks one of them, or the weight is negative.
        """
        for key in ("priority", "weight"):
            if not hasattr(config, key):
                raise ConfigError(f"task '{name}': its configuration has no {key}, got {config!r:.80}")
        self.name = name
        self.config: Any = config
        self.priority = config.priority
        self.weight: Any = config.weight
        if not np.all(np.greater_equal(self.weight, 0.0)):
            raise ConfigError(f"task '{name}': weight={config.weight}, must not be negative")

    def velocity(self, body: Any) -> tuple[cs.SX, cs.SX]:
        """Return J, (m, 6 + n), and v*, (m, 1), of kinematics, in the symbols of a `Body`."""
        raise ConfigError(f"task '{self.name}' states no velocity, which control by kinematics needs")

    def acceleration(self, body: Any) -> cs.SX:
        """Return the residual of torque control, affine in ``acceleration``, ``wrenches`` and ``torques``, (m, 1)."""
        raise ConfigError(f"task '{self.name}' states no acceleration, which torque control needs")

    def activity(self, body: Any) -> cs.SX | float:
        """Return 1 while the task is active, else 0: a number, or an expression in what is set in each tick."""
        return 1.0

    def weights(self, body: Any) -> cs.SX:
        """Return the weight, a number or one for each row of the residual."""
        return self.constant(body, "weight", self.weight)

    def reference(self, body: WholeBodyReference) -> Mapping[str, npt.ArrayLike]:
        """Return values of quantities of its own in this tick, by name; by default ``body.own`` alone has them.

        It is asked before the first tick as well, of a robot that stands, ``body.time`` 0: for the start posture.
        """
        return {}

    def hold(self, robot: IdynTreeModel, posture: RobotPosture) -> None:
        """Take from a posture the parts of the task's own target that are not set yet; most tasks have none.

        In a walk that is the described posture, the world between its soles.
        """

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return numbers and vectors to be logged in each tick, by name; the same names and sizes in all ticks."""
        return {}

    def demand(self, composer: QpComposer, body: Body, residual: cs.SX) -> None:
        """Add the task to a problem, by its residual."""
        weights = self.weights(body) if self.priority is Priority.SOFT else cs.SX(1.0)
        composer.task(self.name, residual, self.priority, weights, self.weight, self.activity(body))
        if type(self).reference is not Task.reference:
            body.reference.read_from(self.reference)

    def constant(self, body: Body, name: str, value: float | NDArray) -> cs.SX:
        """Return the symbol of a number of the configuration; changed, it needs no new compilation."""
        name = f"{self.name}.{name}"
        known = body.parameters.symbols
        return known[name] if name in known else body.parameters.constant(name, value)

    def gains(self, body: Body, prefix: str, stiffness: float, damping: float) -> Gains:
        """Return the symbols of k_p and k_d."""
        return self.constant(body, f"{prefix}stiffness", stiffness), self.constant(body, f"{prefix}damping", damping)

    @property
    def states_velocity(self) -> bool:
        """Whether the task can be part of kinematics."""
        return type(self).velocity is not Task.velocity


TASKS = Registry("gradiva.tasks", "task", (Task,), build=lambda kind, config, name: kind(name, config))
"""Tasks of other packages; those of walking are no plug-ins."""


def task_list(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return the tasks that a caller hands over.

    Raises:
        ConfigError: It is no list of tasks, as a single task is.
    """
    try:
        found = tuple(tasks)
    except TypeError:
        raise ConfigError(f"tasks: expected a list of tasks, got a {type(tasks).__name__}") from None
    for task in found:
        if not isinstance(task, Task):
            raise ConfigError(f"tasks: expected a list of tasks, with a {type(task).__name__} in it: {task!r}")
    return found


def distinct(tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks of a problem; those that are off are no part of it.

    Raises:
        ConfigError: Two have one name.
    """
    by_name: dict[str, Task | None] = {}
    for task in tasks:
        if task.name in by_name:
            raise ConfigError(f"two tasks of the whole body are called '{task.name}': give one another name")
        with plugin_errors(f"[tasks.{task.name}]", task):
            is_on = task.priority is not Priority.OFF
        by_name[task.name] = task if is_on else None
    return [task for task in by_name.values() if task is not None]


@dataclass(frozen=True, slots=True)
class SoftTaskConfig:
    """Weight of a task that is always soft.

    Attributes:
        weight: Of each square of the residual, [-].
        priority: Soft.
    """

    weight: float | NDArray
    priority: Priority = Priority.SOFT


@dataclass(frozen=True, slots=True)
class WeightedTaskConfig:
    """Priority and weight of a task; no number may be negative, nor the weight of a hard task zero.

    Attributes:
        priority: Hard, soft or off.
        weight: Of each square of the residual, when soft, or where a hard task cannot be met, [-].
    """

    priority: Priority
    weight: float

    def __post_init__(self) -> None:
        refuse_negative(self)
        if self.priority is Priority.HARD and self.weight == 0.0:
            raise ConfigError("weight=0.0, must be positive: it is what a hard task costs where it cannot be met")


def refuse_negative(config: object) -> None:
    """Pass when no number of a configuration is negative.

    Raises:
        ConfigError: One is.
    """
    for entry in fields(config):  # type: ignore[arg-type]
        value = getattr(config, entry.name)
        if isinstance(value, int | float) and not value >= 0.0:
            raise ConfigError(f"{entry.name}={value}, must not be negative or NaN")


# -- equations that tasks share ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PoseSymbols:
    """Symbols of the pose of a frame that is asked for; world, mixed.

    Attributes:
        position: [m], (3, 1).
        rotation: (3, 3).
        twist: Linear then angular, (6, 1).
        acceleration: Linear then angular, (6, 1).
    """

    position: cs.SX
    rotation: cs.SX
    twist: cs.SX
    acceleration: cs.SX


def rotation_error(body: SymbolicFrame, rotation: cs.SX) -> cs.SX:
    r"""Return the rotation from a frame to ``rotation``: :math:`Log(R_r R^T)`, world, [rad], (3, 1)."""
    return symbolic_log(rotation @ body.rotation.T)


def frame_acceleration(frame: SymbolicFrame, acceleration: cs.SX) -> cs.SX:
    r"""Return :math:`J \dot\nu + \dot J \nu`, linear then angular, (6, 1)."""
    return frame.jacobian @ acceleration + frame.bias_acceleration


def pose_law(frame: SymbolicFrame, pose: FootSymbols | PoseSymbols, linear: Gains, angular: Gains) -> cs.SX:
    r"""Return the acceleration that brings a frame to its reference, (6, 1).

    .. math::
        \ddot p^* = \ddot p_r + k_d (\dot p_r - \dot p) + k_p (p_r - p), \quad
        \dot\omega^* = \dot\omega_r + k_d (\omega_r - \omega) + k_p Log(R_r R^T)

    Args:
        frame: Such as a sole.
        pose: Its reference.
        linear: Of the position.
        angular: Of the orientation.
    """
    error = pose.twist - frame.twist
    position = linear[0] * (pose.position - frame.position) + linear[1] * error[:3]
    orientation = angular[0] * rotation_error(frame, pose.rotation) + angular[1] * error[3:]
    return pose.acceleration + cs.vertcat(position, orientation)


def pose_velocity(frame: SymbolicFrame, pose: FootSymbols | PoseSymbols, linear: cs.SX, angular: cs.SX) -> cs.SX:
    r"""Return :math:`\dot p_r + k (p_r - p)` and :math:`\omega_r + k Log(R_r R^T)` (7.1.7, 7.1.8), (6, 1)."""
    velocity = pose.twist[:3] + linear * (pose.position - frame.position)
    return cs.vertcat(velocity, pose.twist[3:] + angular * rotation_error(frame, pose.rotation))


def orientation_law(
    frame: SymbolicFrame,
    rotation: cs.SX,
    angular_velocity: cs.SX,
    angular_acceleration: cs.SX,
    gains: Gains,
) -> cs.SX:
    r"""Return the angular acceleration that turns a frame to its reference, (3, 1); the law of ``pose_law``."""
    damping = gains[1] * (angular_velocity - frame.twist[3:])
    return angular_acceleration + gains[0] * rotation_error(frame, rotation) + damping


def linear_momentum_rate(dynamics: SymbolicDynamics, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`\sum_k f_k + m g`, [N], (3, 1)."""
    return sum((wrench[:3] for wrench in wrenches.values()), cs.SX(3, 1)) + dynamics.mass * dynamics.gravity
