r"""Compose the problem of inverse kinematics: tasks that state a velocity, joints within their limits (thesis 7.1).

The tasks of walking; `task_space_control` has those of one's own:

Variables
    :math:`\nu = (\dot p_B, \omega_B, \dot s)`, solved with the joints first.
Objective
    torso orientation :math:`\|\Psi_T\|^2_{\Lambda_T}`, pelvis orientation (not in the thesis: free, it swings
    with the legs), centroidal angular momentum (not in the thesis: the arms swing against the legs) and posture
    :math:`\|\Psi_s\|^2_{\Lambda_s}`.
Constraints
    both feet on their poses and the centre of mass on its path (equalities, 7.1.16b–d); joint positions and
    velocities within their limits, :math:`(s^- - s)/dt \le \dot s \le (s^+ - s)/dt` (7.1.15).
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as cs
import numpy as np

from gradiva.common import (
    ConfigError,
    NDArray,
    Side,
    configuration,
    plugin_errors,
    setting,
)
from gradiva.robot_model import RobotDescription, SymbolicDynamics
from gradiva.whole_body.qp_composer import Priority, QpComposer
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.tasks import Body, SoftTaskConfig, Task, distinct
from gradiva.whole_body.walking_tasks import (
    AngularMomentumTask,
    FootTask,
    Gain,
    PoseGains,
    TrunkTask,
    WalkingComTask,
    WalkingPostureTask,
)

_DRIFT = "without it feet and CoM drift off"
_RELAXED_SLACK_WEIGHT = 1e6  # [-] of feet and CoM against the posture, where they cannot be met


@configuration
class InverseKinematicsConfig:
    """Gains and weights of the tasks.

    Attributes:
        foot_linear_gain: [1/s].
        foot_angular_gain: [1/s].
        com_gain: [1/s].
        torso_gain: [1/s].
        posture_gain: [1/s].
        torso_weight: Against the posture's, [-].
        pelvis_weight: Against the posture's, [-].
        angular_momentum_weights: Of the centroidal angular momentum about x, y and z, [1/(kg·m²)²]; about z it swings
            the arms against the legs.
        posture_weights: By joint group, [-].
        solver: ``daqp`` or ``osqp``.
    """

    foot_linear_gain: float = setting("1/s", above=0.0, why=_DRIFT)
    foot_angular_gain: float = setting("1/s", above=0.0, why=_DRIFT)
    com_gain: float = setting("1/s", above=0.0, why=_DRIFT)
    torso_gain: float = setting("1/s", least=0.0)
    posture_gain: float = setting("1/s", least=0.0)
    torso_weight: float = setting("-", least=0.0)
    pelvis_weight: float = setting("-", least=0.0)
    angular_momentum_weights: tuple[float, float, float] = setting("1/(kg·m²)²", least=0.0)
    posture_weights: dict[str, float] = setting("-", above=0.0)
    solver: SolverName = SolverName.DAQP


def kinematic_tasks(config: InverseKinematicsConfig, description: RobotDescription) -> list[Task]:
    """Return the tasks of walking, the hard ones first."""
    feet = PoseGains(Priority.HARD, _RELAXED_SLACK_WEIGHT, config.foot_linear_gain, config.foot_angular_gain)
    com = Gain(Priority.HARD, _RELAXED_SLACK_WEIGHT, config.com_gain)
    torso = Gain(Priority.SOFT, config.torso_weight, config.torso_gain)
    pelvis = Gain(Priority.SOFT, config.pelvis_weight, config.torso_gain)
    posture = Gain(Priority.SOFT, 1.0, config.posture_gain)
    return [
        FootTask("left foot", Side.LEFT, feet),
        FootTask("right foot", Side.RIGHT, feet),
        WalkingComTask("centre of mass", com),
        TrunkTask("torso", description.torso_frame, "torso_rotation", torso),
        TrunkTask("pelvis", description.base_link, "pelvis_rotation", pelvis),
        AngularMomentumTask("angular momentum", SoftTaskConfig(np.array(config.angular_momentum_weights))),
        WalkingPostureTask(posture, config.posture_weights, "[inverse_kinematics.posture_weights]"),
    ]


def kinematic_problem(
    dynamics: SymbolicDynamics, tasks: Iterable[Task], lower: NDArray, upper: NDArray
) -> tuple[Body, QpComposer]:
    """Compose the problem of tasks that state a velocity, with joints within their limits.

    Args:
        dynamics: Of the robot.
        tasks: In the order in which they are asked for.
        lower: Joint positions, margin included, [rad], shape (n,).
        upper: The same.

    Raises:
        ConfigError: Two tasks have one name, or one states no velocity.
    """
    body, base = Body(dynamics), cs.SX.sym("base_velocity", 6)
    joints = cs.SX.sym("joint_velocities", dynamics.joints)
    body.parameters.add(
        base_position=dynamics.base_position,
        base_rotation=dynamics.base_rotation,
        joint_positions=dynamics.joint_positions,
    )
    composer, velocity = QpComposer(cs.vertcat(joints, base), dynamics.joints), cs.vertcat(base, joints)
    for task in distinct(tasks):
        with plugin_errors(f"[tasks.{task.name}]", task):
            jacobian, target = task.velocity(body)
            _check_rows(task, jacobian, target, velocity.numel())
            task.demand(composer, body, jacobian @ velocity - target)
    _bound_velocities(composer, body, lower, upper, dynamics.model.velocity_limits())
    return body, composer


def _check_rows(task: Task, jacobian: cs.SX, target: cs.SX, columns: int) -> None:
    """Pass when J and v* of a task fit to each other and to the robot.

    Raises:
        ConfigError: They do not.
    """
    wanted, found = (cs.SX(target).numel(), columns), tuple(jacobian.shape)
    if found != wanted:
        kind = type(task).__name__
        raise ConfigError(
            f"task '{task.name}': {kind}.velocity returned J of shape {found}; with v* it has to be {wanted}"
        )


def _bound_velocities(composer: QpComposer, body: Body, lower: NDArray, upper: NDArray, speed: NDArray) -> None:
    """Keep joint positions, [rad], and velocities, [rad/s], for the input ``period``, [s], for which they are held.

    A joint beyond its limit returns, at most at its velocity limit; a passive joint stays: kinematics do not move it.
    """
    constant, period = body.parameters.constant, body.parameters.symbol("period")
    limit = constant("velocity_limits", speed)
    slowest, fastest = (
        cs.fmin(cs.fmax((constant(name, bound) - body.dynamics.joint_positions) / period, -limit), limit)
        for name, bound in (("lower_limits", lower), ("upper_limits", upper))
    )
    composer.bound("joint limits", 0, slowest, fastest, Priority.HARD, 0.0, is_law=True)
    for joint in body.dynamics.model.description.passive:
        composer.fix("passive joint", joint, 1, cs.SX(1.0))
