r"""Layer 3 by bipedal-locomotion-framework: the same references in, the same command out, another solver between them.

`BlfKinematics` takes the place of `WalkingKinematics`, `BlfTorqueProblem` that of `TorqueProblem`; what is before and
behind them, such as the servos' feed-forward, touch-downs and friction, is that of the shipped controllers. The
framework has two priorities, hard and weighted, and its inequalities are hard:

=====================  ================================  ======================================
Task                   inverse kinematics                torque control
=====================  ================================  ======================================
soles                  hard                              hard; one with load stays where it is
centre of mass         hard                              weighted
trunk, posture         weighted                          weighted
limits                 joint positions and velocities    wrench cones; torques are cut behind it
wrenches               --                                weighted, near the expected ones
=====================  ================================  ======================================

Its problems have no centroidal angular momentum, no limits of positions in torque control, and no rotors, whose
torques :math:`B \ddot s` are added behind it. What it cannot state is answered by our own problem: a relaxed tick, a
CoM whose height yields to a push, and all ticks while the worker is away. The ZMP beyond the sole that a push asks for
is unknown to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gradiva.blf import Backend, BackendLost, WorkerProcess
from gradiva.common import (
    GRAVITY,
    ConfigError,
    NDArray,
    RobotPosture,
    Side,
    configuration,
)
from gradiva.robot_model import IdynTreeModel, RobotDescription
from gradiva.whole_body.inverse_kinematics import WalkingKinematics
from gradiva.whole_body.kinematic_problem import InverseKinematicsConfig
from gradiva.whole_body.limits import FRICTION, SOLE_FRACTION
from gradiva.whole_body.reference_symbols import Values
from gradiva.whole_body.rigid_torque_control import RigidTorqueControlConfig, RigidTorqueController
from gradiva.whole_body.torque_control import TorqueProblem
from gradiva.whole_body.whole_body_controllers import OwnController, WholeBodyController
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_SLICES = 2  # [-] of the friction pyramid in a quadrant
_TORQUES = "joint_torques"
Tasks = list[dict[str, Any]]


@configuration
class WholeBodyConfig:
    """Table ``[whole_body]``: who solves the problem of layer 3, and for which joints.

    Attributes:
        backend: ``gradiva``, or ``blf`` for bipedal-locomotion-framework in an interpreter of its own.
        external_joints: Joints that another program drives, such as teleoperated arms; they are taken as measured.
    """

    backend: Backend = Backend.GRADIVA
    external_joints: tuple[str, ...] = ()


def foot_task(name: str, frame: str, **gains: float) -> dict[str, Any]:
    """Return the hard pose of a sole."""
    return {"name": name, "type": "SE3Task", "priority": 0, "parameters": {"frame_name": frame, **gains}}


def soft_task(name: str, kind: str, weight: Sequence[float], **parameters: Any) -> dict[str, Any]:
    """Return a weighted task."""
    return {"name": name, "type": kind, "priority": 1, "weight": list(weight), "parameters": parameters}


def whole_body_problem(kind: str, robot: RobotDescription, tasks: Tasks) -> dict[str, Any]:
    """Return a problem of the worker, ``ik`` or ``tsid``; of the latter torques and wrenches are answers, too."""
    joints, is_dynamic = len(robot.joints), kind == "tsid"
    return {
        "kind": kind,
        "model": str(robot.model_path),
        "joints": list(robot.joints),
        "base": robot.base_link,
        "gravity": float(GRAVITY),
        "contacts": [f"{side}_wrench" for side in Side] if is_dynamic else [],
        "size": 6 + joints + is_dynamic * (joints + 6 * len(Side)),
        "tasks": tasks,
    }


def kinematic_tasks(config: InverseKinematicsConfig, model: IdynTreeModel, period: float) -> Tasks:
    """Return the tasks of the framework's inverse kinematics, in the order of their set points."""
    robot, (lower, upper), speeds = model.description, model.joint_limits(), model.velocity_limits()
    ones, gains = [1.0] * len(lower), {"kp_linear": config.foot_linear_gain, "kp_angular": config.foot_angular_gain}
    com = {"name": "centre of mass", "type": "CoMTask", "priority": 0, "parameters": {"kp_linear": config.com_gain}}
    trunk = ("torso", robot.torso_frame, config.torso_weight), ("pelvis", robot.base_link, config.pelvis_weight)
    positions = {"upper_limits": upper.tolist(), "lower_limits": lower.tolist(), "use_model_limits": False}
    velocities = {"upper_limits": speeds.tolist(), "lower_limits": (-speeds).tolist()}
    weights = robot.spread(config.posture_weights, "[inverse_kinematics.posture_weights]").tolist()
    return [
        *(foot_task(f"{side} foot", robot.foot_frame(side), **gains) for side in Side),
        com,
        *(
            soft_task(name, "SO3Task", [weight] * 3, frame_name=frame, kp_angular=config.torso_gain)
            for name, frame, weight in trunk
        ),
        soft_task("posture", "JointTrackingTask", weights, kp=[config.posture_gain] * len(ones)),
        {
            "name": "joint limits",
            "type": "JointLimitsTask",
            "priority": 0,
            "parameters": {**positions, "sampling_time": period, "klim": ones},
        },
        {"name": "joint speeds", "type": "JointVelocityLimitsTask", "priority": 0, "parameters": velocities},
    ]


def dynamic_tasks(config: RigidTorqueControlConfig, robot: RobotDescription) -> Tasks:
    """Return the tasks of the framework's inverse dynamics, in the order of their set points."""
    swing, trunk, com = config.swing_foot, config.torso, config.com
    gains = {"kp_linear": swing.linear_stiffness, "kd_linear": swing.linear_damping}
    gains |= {"kp_angular": swing.angular_stiffness, "kd_angular": swing.angular_damping}
    stiffness = robot.spread(config.posture.stiffness, "[torque_control.posture_stiffness]")
    weights = robot.spread(config.posture.weights, "[torque_control.posture_weights]").tolist()
    turn = {"kp_angular": trunk.stiffness, "kd_angular": trunk.damping}
    com_gains = {"kp_linear": com.stiffness, "kd_linear": com.damping}
    posture = {"kp": stiffness.tolist(), "kd": (2.0 * np.sqrt(stiffness)).tolist()}
    frames = ("torso", robot.torso_frame), ("pelvis", robot.base_link)
    return [
        *(foot_task(f"{side} foot", robot.foot_frame(side), **gains) for side in Side),
        soft_task("centre of mass", "CoMTask", [com.weight] * 3, **com_gains),
        *dynamics_tasks({f"{side}_wrench": robot.foot_frame(side) for side in Side}),
        *(cone_task(side, robot) for side in Side),
        *(soft_task(name, "SO3Task", [trunk.weight] * 3, frame_name=frame, **turn) for name, frame in frames),
        soft_task("posture", "JointTrackingTask", weights, **posture),
        *(near_task(f"{side}_wrench", 6, config.wrench_weight) for side in Side),
    ]


def dynamics_tasks(contacts: Mapping[str, str]) -> Tasks:
    """Return the dynamics of base and joints; ``contacts`` are names of wrenches and their frames."""
    groups: dict[str, Any] = {"max_number_of_contacts": len(contacts)}
    for number, (variable, frame) in enumerate(contacts.items()):
        groups[f"CONTACT_{number}"] = {"variable_name": variable, "frame_name": frame}
    joints = {**groups, "joint_torques_variable_name": _TORQUES}
    return [
        {"name": "base dynamics", "type": "BaseDynamicsTask", "priority": 0, "parameters": groups},
        {"name": "joint dynamics", "type": "JointDynamicsTask", "priority": 0, "parameters": joints},
    ]


def cone_task(side: Side, robot: RobotDescription, friction: float = FRICTION) -> dict[str, Any]:
    r"""Return the cone of the wrench of a sole.

    The framework takes the frame to lie on the bottom of the sole. Where it is h above it, the ZMP there is off by at
    most :math:`h |f_{xy}| / f_z \le h \mu`, by which the sole is made smaller.
    """
    corners = SOLE_FRACTION * robot.sole.corners(side)[:, :2]
    lost = friction * abs(robot.sole.z)
    least, greatest = corners.min(axis=0) + lost, corners.max(axis=0) - lost
    parameters = {
        "frame_name": robot.foot_frame(side),
        "variable_name": f"{side}_wrench",
        "number_of_slices": _SLICES,
        "static_friction_coefficient": friction,
        "foot_limits_x": [float(least[0]), float(greatest[0])],
        "foot_limits_y": [float(least[1]), float(greatest[1])],
    }
    name, kind = f"wrench of the {side} foot", "FeasibleContactWrenchTask"
    return {"name": name, "type": kind, "priority": 0, "parameters": parameters}


def near_task(variable: str, size: int, weight: float) -> dict[str, Any]:
    """Return the task that keeps a variable near its set point."""
    parameters = {"variable_name": variable, "variable_size": size}
    return soft_task(f"{variable} near its reference", "VariableRegularizationTask", [weight] * size, **parameters)


class _Backed:
    """Has a worker, and says so while it is away.

    Attributes:
        worker: Of the framework.
        warning: Why the worker is away; empty while it answers.
    """

    def __init__(self, worker: WorkerProcess) -> None:
        self.worker, self.warning = worker, ""

    def _asked(self, parts: Sequence[npt.ArrayLike]) -> NDArray | None:
        """Return the answer to a tick; None while the worker is away."""
        try:
            answer = self.worker.solve(np.concatenate([np.ravel(part) for part in parts]))
        except BackendLost as error:
            self.warning = f"{error}; our own problem answers in its place"
            return None
        self.warning = ""
        return answer


class BlfKinematics(_Backed):
    """Finds the robot velocity that follows a reference, as `WalkingKinematics` does.

    Attributes:
        own: Our own problem, for what the framework cannot state.
        problem: The same, which controllers reset.
        actuated: Selection of the joints that commands are for.
    """

    def __init__(
        self, own: WalkingKinematics, model: IdynTreeModel, config: InverseKinematicsConfig, period: float, python: str
    ) -> None:
        """Start the worker; ``period`` [s] is that of all ticks."""
        tasks = kinematic_tasks(config, model, period)
        super().__init__(WorkerProcess(python, whole_body_problem("ik", model.description, tasks)))
        self.own, self.problem, self.actuated = own, own.problem, own.actuated
        self._period, self._rest = period, np.zeros(len(model.description.joints))

    def solve(
        self, state: RobotPosture, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> NDArray:
        """See `WalkingKinematics.solve`."""
        answer = None
        if not (relaxed or reference.height_yields or abs(period - self._period) > _SAME_PERIOD):
            answer = self._asked(self._numbers(state, reference))
        return self.own.solve(state, reference, period, relaxed) if answer is None else answer

    def _numbers(self, state: RobotPosture, reference: WholeBodyReference) -> Sequence[npt.ArrayLike]:
        left, right, rest = reference.left_foot, reference.right_foot, self._rest
        return (
            *(state.base_position, state.base_rotation, np.zeros(6), state.joint_positions, rest),
            *(left.position, left.rotation, left.twist, right.position, right.rotation, right.twist),
            *(reference.com_position, reference.com_velocity),
            *(reference.torso_rotation, reference.trunk_angular_velocity),
            *(reference.pelvis_rotation, reference.trunk_angular_velocity),
            *(reference.posture, rest),
        )


_SAME_PERIOD = 1e-9  # [s]


class BlfTorqueProblem(_Backed):
    """Accelerations and torques of one tick, as of `TorqueProblem`.

    Attributes:
        own: Our own problem, for what the framework cannot state.
    """

    def __init__(self, own: TorqueProblem, model: IdynTreeModel, config: RigidTorqueControlConfig, python: str) -> None:
        """Start the worker."""
        robot = model.description
        super().__init__(WorkerProcess(python, whole_body_problem("tsid", robot, dynamic_tasks(config, robot))))
        self.own, self._joints, self._rest = own, len(robot.joints), np.zeros(len(robot.joints))
        self._rotors, self._limits = model.rotor_inertia, model.torque_limits()
        self._values: Values = {}

    def reset(self) -> None:
        """See `ComposedProblem.reset`."""
        self.own.reset()
        self._values.clear()

    def reference_values(self, reference: WholeBodyReference) -> Values:
        """See `ComposedProblem.reference_values`; also of the wrenches."""
        values = self.own.reference_values(reference)
        values["left_foot_wrench"], values["right_foot_wrench"] = (
            reference.left_foot_wrench,
            reference.right_foot_wrench,
        )
        return values

    def command(self, values: Values, relaxed: bool) -> tuple[NDArray, NDArray]:
        """See `TorqueProblem.command`."""
        self._values |= values  # those not named keep their last value
        values = self._values
        answer = None if relaxed else self._asked(self._numbers(values))
        if answer is None:
            return self.own.command(values, relaxed)
        acceleration, torques = answer[: 6 + self._joints], answer[6 + self._joints : 6 + 2 * self._joints]
        torques = np.clip(torques + self._rotors @ acceleration[6:], -self._limits, self._limits)
        last, step = np.asarray(values["last_torques"]), np.asarray(values["torque_step"])
        return acceleration, np.clip(torques, last - step, last + step)

    def _numbers(self, values: Mapping[str, Any]) -> Sequence[npt.ArrayLike]:
        rest, feet, cones = self._rest, [], []
        for side in Side:
            loaded = values[f"{side}_foot_is_loaded"]
            feet += [loaded, *(values[f"{side}_foot_{part}"] for part in _POSE)]
            cones.append(loaded)
        turn = values["trunk_angular_velocity"], values["trunk_angular_acceleration"]
        return (
            *(values[name] for name in _STATE),
            *feet,
            *(values["com_position"], values["com_velocity"], values["com_acceleration"]),
            *cones,
            *(values["torso_rotation"], *turn),
            *(values["pelvis_rotation"], *turn),
            *(values["posture"], rest, rest),
            *(values[f"{side}_foot_wrench"] for side in Side),
        )


_STATE = ("base_position", "base_rotation", "base_twist", "joint_positions", "joint_velocities")
_POSE = ("position", "rotation", "twist", "acceleration")


class BlfController(OwnController):
    """The shipped controller, whose problem the framework solves.

    Attributes:
        backed: The problem.
    """

    def __init__(self, shipped: WholeBodyController, backed: BlfKinematics | BlfTorqueProblem) -> None:
        """Take the shipped controller and the problem that it solves."""
        super().__init__(shipped)
        self.backed = backed

    @property
    def warning(self) -> str:
        """Why the worker is away; empty while it answers."""
        return self.backed.warning

    @property
    def time_limit(self) -> float:
        """Time of a tick beyond which the worker counts as lost, [s]; long in a simulation, which waits."""
        return self.backed.worker.timeout

    @time_limit.setter
    def time_limit(self, limit: float) -> None:
        self.backed.worker.timeout = limit

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return the last round trip of the worker and the framework's own time, [s]."""
        worker = self.backed.worker
        return {"round_trip": worker.round_trip, "own_time": worker.own_time}


def backed_controller(controller: WholeBodyController) -> BlfController | None:
    """Return the controller whose problem the framework solves, or that it hands its ticks on to; None: neither."""
    candidates = controller, getattr(controller, "shipped", None)
    return next((each for each in candidates if isinstance(each, BlfController)), None)


def check_backed_torque(is_rigid: bool, model: IdynTreeModel) -> None:
    """Pass where torque control is that of rigid ground and rigid links, all joints with motors.

    Raises:
        ConfigError: It is not, so the framework cannot solve its problem.
    """
    if not is_rigid or model.description.passive:
        raise ConfigError(
            "whole_body.backend=blf knows rigid ground and rigid links: set torque_control.ground=rigid and"
            " torque_control.law=rigid, or backend=gradiva",
            ["whole_body.backend"],
        )


def backed_torque_controller(
    shipped: RigidTorqueController, model: IdynTreeModel, config: RigidTorqueControlConfig, python: str
) -> BlfController:
    """Return the torque controller with its problem solved by the framework; see `check_backed_torque`."""
    problem = BlfTorqueProblem(shipped.problem, model, config, python)
    shipped.problem = cast(TorqueProblem, problem)  # of which controllers use these methods alone
    return BlfController(shipped, problem)
