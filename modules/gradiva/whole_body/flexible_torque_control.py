r"""Control torques of a robot whose links bend, "TSID-Flex" (thesis section 9.2).

Deflections are concentrated in passive joints :math:`s_f`, whose torques :math:`\tau_f = -k s_f - d \dot s_f` are
known. In the thesis they are those of now; here those after a horizon h, which accelerations change (`TorqueBody`).

Variables
    :math:`\dot\nu` of base, actuated and flexible joints, :math:`f_l, f_r` and, in the full form, :math:`\tau`.
Objective
    that of TSID-Rigid, and :math:`\ddot s_f^* = k_p (s_f^* - s_f) - k_d \dot s_f` of the flexible joints.
Constraints
    those of TSID-Rigid, and the flexible joints' rows of the dynamics, :math:`M_f \dot\nu + h_f -
    \sum_k J_{f,k}^\top f_k = \tau_f`.

Without flexible joints it is TSID-Rigid.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import casadi as cs
import numpy as np

from gradiva.common import (
    GRAVITY,
    ConfigError,
    JointCommand,
    LowPass,
    RobotPosture,
    RobotState,
    Side,
    altered,
    minimum_jerk,
)
from gradiva.robot_model import FLEXIBLE_GROUP, Compiler, IdynTreeModel, RobotDescription, interpreted
from gradiva.whole_body.qp_composer import Priority
from gradiva.whole_body.reference_symbols import Values
from gradiva.whole_body.rigid_torque_control import RigidTorqueControlConfig, RigidTorqueController
from gradiva.whole_body.tasks import Body, SoftTaskConfig, Task, WeightedTaskConfig, refuse_negative
from gradiva.whole_body.torque_control import UP, TorqueActuation
from gradiva.whole_body.torque_control_config import TorqueControlConfig
from gradiva.whole_body.walking_tasks import (
    AngularMomentumTaskConfig,
    ComTaskConfig,
    PostureTaskConfig,
    expected_wrench,
)
from gradiva.whole_body.whole_body_reference import WholeBodyReference


@dataclass(frozen=True, slots=True)
class FlexibleJointTaskConfig(WeightedTaskConfig):
    """Configure the regulation of the flexible joints: soft or off, as they have no motors; weight of each (rad/s²)².

    Attributes:
        stiffness: k_p, [1/s²].
        damping: k_d, [1/s].
        expected_fraction: Of the deflection under the expected wrenches, that is the reference; 0: none, as in the
            thesis, [-].
    """

    stiffness: float
    damping: float
    expected_fraction: float

    def __post_init__(self) -> None:
        WeightedTaskConfig.__post_init__(self)
        if self.priority is Priority.HARD:
            raise ConfigError("priority=hard: nothing moves flexible joints at once; soft or off")


class FlexibleJointTask(Task):
    """Bring the flexible joints to rest, at zero or where the expected wrenches hold them."""

    Config = FlexibleJointTaskConfig

    def acceleration(self, body: Body) -> cs.SX:
        r"""Return :math:`\ddot s_f + k_d \dot s_f + k_p (s_f - s_f^*)`; without flexible joints it has no rows."""
        flexible = list(body.dynamics.model.description.passive)
        stiffness, damping = self.gains(body, "", self.config.stiffness, self.config.damping)
        fraction = self.constant(body, "expected_fraction", self.config.expected_fraction)
        error = body.dynamics.joint_positions[flexible] - fraction * expected_deflections(body)
        return body.acceleration[6:][flexible] + damping * body.dynamics.joint_velocities[flexible] + stiffness * error


def expected_deflections(body: Body) -> cs.SX:
    r"""Return the deflections under the expected wrenches, :math:`(\sum_k J_{f,k}^\top f_{r,k} - h_f) / k`, [rad]."""
    dynamics, description = body.dynamics, body.dynamics.model.description
    flexible = list(description.passive)
    if not flexible:
        return cs.SX(0, 1)
    torques = dynamics.bias_forces[6:][flexible]
    for side in Side:
        foot = body.reference.feet[side]
        wrench = foot.is_loaded * expected_wrench(body.feet[side], foot)
        torques -= body.feet[side].jacobian[:, [6 + joint for joint in flexible]].T @ wrench
    return -torques / body.parameters.symbols["passive_stiffness"]


@dataclass(frozen=True, slots=True)
class WrenchTransitionConfig:
    """Configure how a foot takes load over and hands it on.

    Attributes:
        weight: Of each N² and (N·m)² of a foot with hardly any load away from what it should carry, beside
            ``RigidTorqueControlConfig.wrench_weight``; 0: contacts change as on a rigid robot, [-].
        load: Fraction of the weight from which on a foot has none of that weight, [-].
        duration: In which a foot that has touched down takes over its expected wrench, [s].
    """

    weight: float
    load: float
    duration: float

    def __post_init__(self) -> None:
        refuse_negative(self)
        for name in ("load", "duration"):
            if getattr(self, name) == 0.0:
                raise ConfigError(f"{name}=0.0, must be positive; weight = 0 leaves the transition out")


class WrenchTransitionTask(Task):
    r"""Let the load of a foot begin and end at zero, smoothly.

    With the expected wrench :math:`f_r`, the fraction :math:`s` of it since touch-down, weight :math:`w` and the load
    :math:`f_0`: the cost :math:`w \max(0, 1 - s f_{r,z} / f_0)^2 \| f - s f_r \|^2`.
    """

    def __init__(self, side: Side, config: WrenchTransitionConfig) -> None:
        super().__init__(f"{side} wrench transition", SoftTaskConfig(config.weight))
        self._side, self._load = side, config.load

    def acceleration(self, body: Body) -> cs.SX:
        """Return f - s f_r of a foot that carries load."""
        return body.wrenches[self._side] - self._expected(body)

    def weights(self, body: Body) -> cs.SX:
        """Return the weight, which ends where the foot carries some load."""
        load = self.constant(body, "load", self._load * body.dynamics.mass * GRAVITY)
        return super().weights(body) * cs.fmax(0.0, 1.0 - self._expected(body)[2] / load) ** 2

    def _expected(self, body: Body) -> cs.SX:
        foot, name = body.reference.feet[self._side], transition_of(self._side)
        known = body.parameters.symbols
        fraction = known[name] if name in known else body.parameters.symbol(name)
        return foot.is_loaded * fraction * expected_wrench(body.feet[self._side], foot)


def transition_of(side: Side) -> str:
    """Return the name of the parameter: the fraction of its expected wrench that a foot has taken over."""
    return f"{side}_foot_transition"


@dataclass(frozen=True, slots=True)
class FlexibleTorqueControlConfig:
    """Configure TSID-Flex: where it differs from TSID-Rigid, whose tasks and limits it has.

    Attributes:
        com: Centre of mass, through the wrenches.
        angular_momentum: Through the wrenches.
        flexible_joints: Their regulation.
        transition: Of the wrenches where contacts begin and end.
        spring_horizon: After which the torques of the flexible joints count in the dynamics; 0: those of now, as in the
            thesis, [s].
        wrench_weight: Of each N² and (N·m)² away from the expected wrenches, see `RigidTorqueControlConfig`, [-].
    """

    com: ComTaskConfig
    angular_momentum: AngularMomentumTaskConfig
    flexible_joints: FlexibleJointTaskConfig
    transition: WrenchTransitionConfig
    spring_horizon: float
    wrench_weight: float

    def __post_init__(self) -> None:
        refuse_negative(self)

    @classmethod
    def of(cls, config: TorqueControlConfig) -> FlexibleTorqueControlConfig:
        """Return what the tables of torque control and the constants of this law make."""
        rigid = RigidTorqueControlConfig.of(config)
        horizon = config.spring_horizon
        return cls(rigid.com, rigid.angular_momentum, _FLEXIBLE_JOINTS, _TRANSITION, horizon, _WRENCH_WEIGHT)


_FLEXIBLE_JOINTS = FlexibleJointTaskConfig(
    Priority.SOFT,
    weight=0.01,  # [-] a (rad/s²)²: 1 and more contradicts the centre of mass
    stiffness=100.0,  # [1/s²]
    damping=20.0,  # [1/s] critical
    expected_fraction=1.0,  # [-] 0 as in the thesis
)
_TRANSITION = WrenchTransitionConfig(weight=0.1, load=0.2, duration=0.05)  # [-], [-] of the weight, [s]
"""A hundred times ``_WRENCH_WEIGHT``, so that it decides while it acts; as long as springs need, ``spring_horizon``."""
_WRENCH_WEIGHT = 1e-3  # [-] an N²
"""At 1e-4 feet of TALOS with hips of 10 000 N·m/rad push to and fro against each other where both stand, at 4 Hz, and
its soles turn by 3°."""
_LOWERING, _LOWERING_TIME = 0.025, 0.1  # [-] of the CoM's height, [s]
"""By which the CoM is lowered while a push is caught. Trunk and hips that give way raise it over the long step, whose
trailing leg lifts off stretched: on TALOS with hips of 10 000 N·m/rad its knee then runs through its straight end at
6 rad/s and the toe strikes the ground. 0.015 to 0.035 end that alike."""


class FlexibleTorqueController(RigidTorqueController):
    """Command torques on rigid ground to a robot with flexible joints."""

    def __init__(
        self,
        model: IdynTreeModel,
        rigid: RigidTorqueControlConfig,
        config: FlexibleTorqueControlConfig,
        actuation: TorqueActuation,
        posture: RobotPosture,
        compiler: Compiler = interpreted,
        tasks: Sequence[Task] = (),
    ) -> None:
        """Build the problem; see ``RigidTorqueController``.

        Args:
            model: The robot, its flexible joints passive joints behind the actuated ones.
            rigid: Tasks and limits that both laws have.
            config: Those of this law.
            actuation: As there, its motion of all joints.
            posture: Of the actuated joints.
            compiler: As there.
            tasks: As there.
        """
        actuated = len(model.description.actuated)
        self._joints, self._moving = slice(0, actuated), slice(0, 6 + actuated)
        self._deflections = np.zeros(len(model.description.passive))
        law = replace(
            rigid,
            com=config.com,
            angular_momentum=config.angular_momentum,
            wrench_weight=config.wrench_weight,
            posture=_with_flexible_group(rigid.posture, model.description),
        )
        tasks = [FlexibleJointTask("flexible joints", config.flexible_joints), *tasks]
        self._lowering = LowPass(_LOWERING_TIME)
        self._transition_duration = config.transition.duration if config.transition.weight > 0.0 else None
        if self._transition_duration is not None:
            tasks += [WrenchTransitionTask(side, config.transition) for side in Side]
        super().__init__(model, law, actuation, self._complete(posture), compiler, tasks, config.spring_horizon)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        super().reset(self._complete(posture))
        self._since_touch = dict.fromkeys(Side, np.inf)
        self._lowering.reset()
        joints = posture.joint_positions[self._joints]
        self._posture = self._start = replace(posture, joint_positions=joints)
        self._trim()

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``; desired positions and velocities are of the actuated joints."""
        whole = altered(
            state,
            joint_positions=np.concatenate((state.joint_positions, state.flexible_positions)),
            joint_velocities=np.concatenate((state.joint_velocities, state.flexible_velocities)),
        )
        posture = np.concatenate((reference.posture, self._deflections))
        command = super().command(whole, altered(reference, posture=posture), period, relaxed)
        self._start = state
        self._trim()
        return command

    def _values(
        self, state: RobotState, reference: WholeBodyReference, loaded: Collection[Side], period: float
    ) -> Values:
        values = super()._values(state, reference, loaded, period)
        lowest = min(reference.left_foot.position[2], reference.right_foot.position[2])
        wanted = _LOWERING * (reference.com_position[2] - lowest) if reference.height_yields else 0.0
        values["com_position"] = reference.com_position - self._lowering.update(wanted * UP, period)
        if state.flexible_stiffness.size:
            values["passive_stiffness"] = state.flexible_stiffness
        if self._transition_duration is None:
            return values
        for side in Side:
            self._since_touch[side] = self._since_touch[side] + period if side in loaded else 0.0
            values[transition_of(side)] = minimum_jerk(self._since_touch[side] / self._transition_duration)[0]
        return values

    def _complete(self, posture: RobotPosture) -> RobotPosture:
        """Return a posture of the actuated joints with the flexible ones at zero."""
        joints = posture.joint_positions
        if len(joints) > self._joints.stop:
            return posture
        return replace(posture, joint_positions=np.concatenate((joints, self._deflections)))

    def _trim(self) -> None:
        """Leave of what is desired the part of the actuated joints, which have limits and commands."""
        self.desired_velocity = self.desired_velocity[self._moving]
        self.desired_joint_positions = self.desired_joint_positions[self._joints]


def _with_flexible_group(posture: PostureTaskConfig, description: RobotDescription) -> PostureTaskConfig:
    """Return the posture's numbers with some for the flexible joints, which the task leaves out."""
    group = {name: 1.0 for name in description.joint_groups if name == FLEXIBLE_GROUP}
    return replace(posture, stiffness=posture.stiffness | group, weights=posture.weights | group)
