r"""Task-space control of one's own tasks: velocities without contacts, and torques on rigid ground.

`InverseKinematics` solves the problem of `inverse_kinematics` with other tasks. `InverseDynamics`, with contacts:

Variables
    :math:`\dot\nu` and the wrenches :math:`f_k` of the contacts; torques follow from the joints' rows of the dynamics.
Objective
    the soft tasks; low torques and wrenches, which decide what tasks leave open.
Constraints
    base dynamics; the frames of loaded contacts at rest; no wrench of a contact without load; the hard tasks; wrench
    cones, torques and joint positions within their limits, soft.

It is the problem of `rigid_torque_control` without what walking adds: feet that swing, references of a plan, ZMP.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, ModelError, NDArray, RobotPosture, nearest_name
from gradiva.robot_model import Compiler, IdynTreeModel, RobotDescription, SymbolicDynamics, interpreted
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.inverse_kinematics import base_first
from gradiva.whole_body.kinematic_problem import kinematic_problem
from gradiva.whole_body.limits import (
    JointLimitConfig,
    TorqueLimitConfig,
    WrenchConeConfig,
    cone_numbers,
    limit_contact,
    limit_joint_positions,
    limit_torques,
)
from gradiva.whole_body.qp_composer import UNBOUNDED, Priority, QpComposer
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.tasks import Body, SoftTaskConfig, Task, WeightedTaskConfig, frame_acceleration, task_list
from gradiva.whole_body.torque_control import Form, RigidGroundBody, TorqueProblem, compose
from gradiva.whole_body.whole_body_reference import NO_WALK

_CONTACT_DAMPING = 50.0  # [1/s] of the velocity that drift leaves in a contact; its time constant is 20 ms
_MISSED = 1e6  # [-] slack weight of a contact that a relaxed problem moves, against tasks of weight 1
_TORQUE_WEIGHT = 1e-6  # [-] of each (N·m)², small beside an acceleration of 1 rad/s² of any task
_WRENCH_WEIGHT = 1e-7  # [-] of each N² and (N·m)²: which of the optima of equal torques
_CONE = WrenchConeConfig(
    Priority.SOFT, 100.0, friction=0.6, torsional_friction=0.03, sole_fraction=0.9, minimum_force=1.0
)
_JOINT_LIMITS = JointLimitConfig(Priority.SOFT, 1.0, horizon=0.1, margin=0.0, narrowed={})
_TORQUE_LIMITS = TorqueLimitConfig(Priority.SOFT, 1e3)


class InverseKinematics:
    """Finds the velocity with which a robot does tasks of one's own, its joints within their limits.

    Hard tasks are constraints, the squares of the residuals of soft ones are minimised by their weights. A task whose
    target was never set holds what is in the first posture.

    Attributes:
        robot: The robot.
        tasks: Their targets may change from call to call.
        problem: Composed of the tasks; ``problem.violations()`` says how far hard ones were missed.
    """

    def __init__(
        self,
        robot: IdynTreeModel,
        tasks: Iterable[Task],
        *,
        position_margin: float = 1e-3,
        solver: SolverName = SolverName.DAQP,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem.

        Args:
            robot: The robot, as ``gradiva.load_robot`` returns it.
            tasks: That state a velocity; without one that is about all joints, add a light `PostureTask`.
            position_margin: Kept from each joint limit, [rad].
            solver: ``daqp`` or ``osqp``.
            compiler: How the problem's function becomes fast, such as ``GccCompiler``.

        Raises:
            ConfigError: Two tasks have one name, one states no velocity, there is none, or they are no list.
            ModelError: A task names a frame that the robot does not have.
        """
        self.robot, self.tasks = robot, task_list(tasks)
        if not self.tasks:
            raise ConfigError("inverse kinematics has no task: give one at least, such as PostureTask()")
        lower, upper = robot.joint_limits()
        limits = lower + position_margin, upper - position_margin
        body, composer = kinematic_problem(SymbolicDynamics.of(robot), self.tasks, *limits)
        self.problem = ComposedProblem("inverse kinematics", body, composer, solver, compiler, {})

    def solve(self, posture: RobotPosture, dt: float, relaxed: bool = False) -> NDArray:
        """Return ν = (ṗ_B, ω_B, ṡ), world, mixed, [m/s, rad/s], shape (6 + n,); see ``integrate`` for the next posture.

        Args:
            posture: Of the robot now.
            dt: For which the velocity will be held, [s].
            relaxed: Where hard tasks contradict each other or the limits, come as near as possible.

        Raises:
            NoSolutionFound: They do; it names what was the hardest to meet.
            ModelError: The posture is that of another robot.
            ConfigError: dt is not positive, or a target has a wrong shape.
        """
        check_posture(self.robot, posture)
        if not dt > 0.0:
            raise ConfigError(f"dt={dt} s, must be positive: the velocity is held for it")
        for task in self.tasks:
            task.hold(self.robot, posture)
        values = self.problem.reference_values(NO_WALK)
        values["base_position"], values["base_rotation"] = posture.base_position, posture.base_rotation
        values["joint_positions"], values["period"] = posture.joint_positions, dt
        return base_first(self.problem.solve(values, relaxed), len(posture.joint_positions))


def check_posture(robot: IdynTreeModel, posture: RobotPosture) -> None:
    """Pass when a posture has the joints of a robot and is finite.

    Raises:
        ModelError: It has not; the message says what it has.
        ConfigError: It is no posture.
    """
    if not isinstance(posture, RobotPosture):
        raise ConfigError(
            f"posture: expected a RobotPosture (described_posture(robot)), got a {type(posture).__name__}"
        )
    joints, description = len(posture.joint_positions), robot.description
    if joints != len(description.joints):
        raise ModelError(f"{description.name} has {len(description.joints)} joints, the posture has {joints}")
    for part in (posture.base_position, posture.base_rotation, posture.joint_positions):
        if not np.isfinite(part).all():
            raise ModelError(f"{description.name}: the posture is not finite")


@dataclass(slots=True)
class Contact:
    """A rectangle of the robot that touches rigid ground.

    Attributes:
        name: Of the contact.
        frame: In which the rectangle lies, its z the normal of the ground, away from it.
        x: Its extent along x of the frame, [m].
        y: The same along y, [m].
        z: Height of its plane in the frame, [m].
        cone: Limits of its wrench: friction, centre of pressure, least force.
        is_loaded: Whether it is held and may push; set it between two calls.
    """

    name: str
    frame: str
    x: tuple[float, float]
    y: tuple[float, float]
    z: float = 0.0
    cone: WrenchConeConfig = field(default=_CONE)
    is_loaded: bool = True

    def __post_init__(self) -> None:
        if self.x[0] >= self.x[1] or self.y[0] >= self.y[1]:
            raise ConfigError(f"contact '{self.name}': x={self.x}, y={self.y}: the lower bound must come first")

    @property
    def corners(self) -> NDArray:
        """Corners of the rectangle in the frame, [m], shape (4, 2)."""
        return np.array([[x, y] for x in self.x for y in self.y])


def soles_of(description: RobotDescription) -> list[Contact]:
    """Return both soles of a robot as contacts ``left`` and ``right``."""
    sole, (right, left) = description.sole, description.sole.y
    extents = {"left": (right, left), "right": (-left, -right)}
    frames = {"left": description.left_foot_frame, "right": description.right_foot_frame}
    return [Contact(name, frames[name], sole.x, y, sole.z) for name, y in extents.items()]


@dataclass(frozen=True, slots=True)
class RestConfig(WeightedTaskConfig):
    """Configure the rest of a contact.

    Attributes:
        damping: Of what velocity is left, [1/s].
    """

    damping: float


class RestTask(Task):
    """Keep the frame of a contact at rest while it is loaded: a constraint of rigid ground."""

    def __init__(self, contact: str) -> None:
        super().__init__(f"{contact} at rest", RestConfig(Priority.HARD, _MISSED, _CONTACT_DAMPING))
        self._contact = contact

    def acceleration(self, body: Body) -> cs.SX:
        r"""Return :math:`J \dot\nu + \dot J \nu + k_d J \nu`."""
        frame = body.feet[self._contact]
        damping = self.constant(body, "damping", self.config.damping)
        return frame_acceleration(frame, body.acceleration) + damping * frame.twist

    def activity(self, body: Body) -> cs.SX:
        """Return 1 while the contact is loaded."""
        return body.reference.feet[self._contact].is_loaded


class EffortTask(Task):
    """Keep torques and wrenches low."""

    def __init__(self) -> None:
        super().__init__("effort", SoftTaskConfig(1.0))

    def acceleration(self, body: Body) -> cs.SX:
        """Return τ, then the wrenches, each by the root of its weight."""
        wrenches = cs.vertcat(*body.wrenches.values()) if body.wrenches else cs.SX(0, 1)
        return cs.vertcat(_TORQUE_WEIGHT**0.5 * body.torques, _WRENCH_WEIGHT**0.5 * wrenches)


class InverseDynamics:
    """Finds the joint torques that do tasks of one's own with contacts of one's own.

    Soft limits are part of every answer: ``problem.violations()`` says how far each was passed.

    Attributes:
        robot: The robot.
        tasks: Their targets may change from call to call.
        contacts: By name; ``is_loaded`` of each may change from call to call.
        problem: Composed of the tasks, contacts and limits.
        acceleration: ν̇ of the last answer, world, mixed, [m/s², rad/s²], shape (6 + n,).
    """

    def __init__(
        self,
        robot: IdynTreeModel,
        tasks: Iterable[Task],
        contacts: Iterable[Contact],
        *,
        solver: SolverName = SolverName.DAQP,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem.

        Args:
            robot: The robot, as ``gradiva.load_robot`` returns it.
            tasks: That state an acceleration; without one that is about all joints, add a light `PostureTask`.
            contacts: With rigid ground; `soles_of` a description are those of a biped.
            solver: ``daqp`` or ``osqp``.
            compiler: How the problem's function becomes fast, such as ``GccCompiler``.

        Raises:
            ConfigError: Two tasks or contacts have one name, or a task states no acceleration.
            ModelError: A task or a contact names a frame that the robot does not have.
        """
        self.robot, self.tasks = robot, task_list(tasks)
        self.contacts = _by_name(contacts)
        frames = {name: contact.frame for name, contact in self.contacts.items()}
        body = RigidGroundBody(SymbolicDynamics.of(robot), Form.REDUCED, contacts=frames)
        composer = compose(body, [*map(RestTask, frames), *self.tasks, EffortTask()])
        limit_joint_positions(composer, body, _JOINT_LIMITS)
        limit_torques(composer, body, _TORQUE_LIMITS)
        for contact in self.contacts.values():
            self._limit(composer, body, contact)
        body.outputs = {f"{name}.wrench": cs.jacobian(body.wrenches[name], body.variables) for name in frames}
        self.problem = TorqueProblem("inverse dynamics", body, composer, solver, compiler)

    def solve(self, posture: RobotPosture, velocity: npt.ArrayLike, relaxed: bool = False) -> NDArray:
        """Return the torques of the actuated joints, [N·m], shape (a,).

        Args:
            posture: Of the robot now.
            velocity: ν = (ṗ_B, ω_B, ṡ) of the robot now, world, mixed, [m/s, rad/s], shape (6 + n,).
            relaxed: Where contacts and hard tasks contradict each other, come as near as possible.

        Raises:
            NoSolutionFound: They do; it names what was the hardest to meet.
            ModelError: Posture or velocity are those of another robot, or not finite.
            ConfigError: A target has a wrong shape.
        """
        check_posture(self.robot, posture)
        speed = np.asarray(velocity, dtype=np.float64)
        if speed.shape != (size := 6 + len(posture.joint_positions),) or not np.isfinite(speed).all():
            raise ModelError(f"the velocity has shape {speed.shape} and must be finite, of shape ({size},)")
        for task in self.tasks:
            task.hold(self.robot, posture)
        values = self.problem.reference_values(NO_WALK)
        values["base_position"], values["base_rotation"] = posture.base_position, posture.base_rotation
        values["joint_positions"] = posture.joint_positions
        values["base_twist"], values["joint_velocities"] = speed[:6], speed[6:]
        values["last_torques"], values["torque_step"] = 0.0, UNBOUNDED
        for name, contact in self.contacts.items():
            values[f"{name}_foot_is_loaded"] = float(contact.is_loaded)
        self.acceleration, torques = self.problem.command(values, relaxed)
        return torques

    def wrench(self, contact: str) -> NDArray:
        """Return the wrench of the last answer, ground on robot, about the frame's origin, world axes, shape (6,).

        Raises:
            ConfigError: There is no such contact.
        """
        if contact not in self.contacts:
            raise ConfigError(f"no contact '{contact}'{nearest_name(contact, self.contacts)}")
        return self.problem.outputs[f"{contact}.wrench"].dot(self.problem.solution)

    def _limit(self, composer: QpComposer, body: RigidGroundBody, contact: Contact) -> None:
        """Keep the wrench in its cone, and at zero without load."""
        name, cone = contact.name, cone_numbers(contact.cone, contact.corners, contact.z)
        numbers = body.parameters.constant(f"{name} wrench.cone", cone)
        limit_contact(composer, body, name, f"{name} wrench", body.wrenches[name], numbers, contact.cone)
        composer.fix(f"{name} in the air", body.first_wrench[name], 6, 1.0 - body.reference.feet[name].is_loaded)


def _by_name(contacts: Iterable[Contact]) -> dict[str, Contact]:
    found: dict[str, Contact] = {}
    for contact in contacts:
        if contact.name in found:
            raise ConfigError(f"two contacts are called '{contact.name}': give one another name")
        found[contact.name] = contact
    return found
