"""Configuration of torque control: table ``[torque_control]`` and those below it."""

from __future__ import annotations

from enum import StrEnum

from gradiva.common import configuration, setting
from gradiva.whole_body.qp_composer import Priority


class GroundModel(StrEnum):
    """Ground that torque control assumes."""

    RIGID = "rigid"
    COMPLIANT = "compliant"


class TorqueLaw(StrEnum):
    """Law on rigid ground of a robot with flexible joints."""

    FLEXIBLE = "flexible"
    """TSID-Flex: they are degrees of freedom, which estimation observes."""
    RIGID = "rigid"
    """TSID-Rigid: links do not bend."""


@configuration
class PrioritiesConfig:
    """Table ``[torque_control.priorities]``: hard, soft or off, of tasks and limits.

    Attributes:
        com: Centre of mass, on rigid ground.
        angular_momentum: The same.
        wrench_cone: Limits of the ground's wrenches.
        joint_limits: Of positions.
        torque_limits: Of torques.
    """

    com: Priority
    angular_momentum: Priority
    wrench_cone: Priority
    joint_limits: Priority
    torque_limits: Priority


@configuration
class TaskWeightsConfig:
    """Table ``[torque_control.weights]``: weights of soft tasks on rigid ground.

    Attributes:
        com: Of each (m/s²)² of the centre of mass, [-].
        angular_momentum: Of each (N·m)² of its rate, [-].
        wrenches: Of each N² and (N·m)² away from the expected wrenches, [-].
    """

    com: float = setting("-", least=0.0)
    angular_momentum: float = setting("-", least=0.0)
    wrenches: float = setting("-", least=0.0)


@configuration
class ComGainsConfig:
    """Table ``[torque_control.com]``: gains of the centre of mass on rigid ground.

    Attributes:
        stiffness: [1/s²].
        damping: [1/s].
    """

    stiffness: float = setting("1/s²", least=0.0)
    damping: float = setting("1/s", least=0.0)


@configuration
class StanceFootGainsConfig:
    """Table ``[torque_control.stance_foot]``: gains of a foot that stands on rigid ground, wherever it stands.

    Attributes:
        linear_damping: [1/s].
        angular_damping: [1/s].
    """

    linear_damping: float = setting("1/s", least=0.0)
    angular_damping: float = setting("1/s", least=0.0)


@configuration
class SwingFootGainsConfig:
    """Table ``[torque_control.swing_foot]``: gains of a foot that swings over rigid ground.

    Attributes:
        linear_stiffness: [1/s²].
        linear_damping: [1/s].
        angular_stiffness: [1/s²].
        angular_damping: [1/s].
    """

    linear_stiffness: float = setting("1/s²", least=0.0)
    linear_damping: float = setting("1/s", least=0.0)
    angular_stiffness: float = setting("1/s²", least=0.0)
    angular_damping: float = setting("1/s", least=0.0)


@configuration
class SoftGroundTasksConfig:
    """Table ``[torque_control.compliant]``: what differs on soft ground.

    Attributes:
        wrench_time_constant: Of the low pass on what the model of the ground misses of wrenches, 0 for none, [s].
        attitude_weight: Of each (rad/s²)² of the attitude of a foot that stands, see `StandingFootConfig`, [-].
        posture_weights: By joint group, of each (rad/s²)² of the posture, [-].
        recovery: By joint group, fraction of a joint's posture error by which it may return in a second, [1/s].
    """

    wrench_time_constant: float = setting("s", least=0.0)
    attitude_weight: float = setting("-", least=0.0)
    posture_weights: dict[str, float] = setting("-", above=0.0)
    recovery: dict[str, float] = setting("1/s", least=0.0)


@configuration
class TorqueControlConfig:
    """Table ``[torque_control]``: layer 3 where it commands torques; the laws' own numbers stand beside them.

    Attributes:
        ground: Chooses its controller.
        law: Chooses what that controller, and estimation, know of flexible joints where the robot has them.
        torque_rate: Largest rate of the commanded torques, [N·m/s].
        zmp_excess: Beyond the loaded soles, of the ZMP that may be asked for, and while a step catches a push, [m].
        touch_fraction: Fraction of the weight from which a landing foot carries load, [-].
        touch_timeout: After which a foot that should stand is taken to carry load whatever its sensor says, [s].
        learns_landings: Whether it learns slope and landings of rigid ground; the foot that landed last keeps load.
        spring_horizon: After which torques of flexible joints count; 0: those of now, as in the thesis, [s].
        narrowed: Lower and upper position of joints with narrower limits than their own, [rad].
        priorities: Of tasks and limits.
        weights: Of tasks on rigid ground.
        com: Its gains on rigid ground.
        stance_foot: Its gains on rigid ground.
        swing_foot: Its gains over rigid ground.
        posture_stiffness: By joint group, critically damped, [1/s²].
        posture_weights: By joint group, of each (rad/s²)² of the posture on rigid ground, [-].
        compliant: What differs on soft ground.
    """

    ground: GroundModel
    law: TorqueLaw
    torque_rate: float = setting("N·m/s", above=0.0)
    zmp_excess: tuple[float, float] = setting("m", above=0.0)
    touch_fraction: float = setting("-", least=0.0)
    touch_timeout: float = setting("s", least=0.0)
    learns_landings: bool
    spring_horizon: float = setting("s", least=0.0)
    narrowed: dict[str, tuple[float, float]]
    priorities: PrioritiesConfig
    weights: TaskWeightsConfig
    com: ComGainsConfig
    stance_foot: StanceFootGainsConfig
    swing_foot: SwingFootGainsConfig
    posture_stiffness: dict[str, float] = setting("1/s²", above=0.0)
    posture_weights: dict[str, float] = setting("-", above=0.0)
    compliant: SoftGroundTasksConfig
