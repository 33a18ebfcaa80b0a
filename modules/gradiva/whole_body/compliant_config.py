"""Gains and weights of torque control on soft ground."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError
from gradiva.whole_body.joint_limits import JointLimitConfig, TorqueLimitConfig
from gradiva.whole_body.task_config import OrientationTaskConfig, PoseTaskConfig, PostureTaskConfig, refuse_negative
from gradiva.whole_body.wrench_cone import WrenchConeConfig


@dataclass(frozen=True, slots=True)
class LinearMomentumConfig:
    """Of the linear momentum, by its second derivative; its integral is the position of the centre of mass.

    Attributes:
        weight: Of each (N/s)² that is missing, [-].
        damping: k_d, of the acceleration of the centre of mass, [1/s].
        stiffness: k_p, of its velocity, [1/s²].
        integral: k_i, of its position, [1/s³].
    """

    weight: float
    damping: float
    stiffness: float
    integral: float

    def __post_init__(self) -> None:
        for name in ("weight", "damping", "stiffness", "integral"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if self.damping * self.stiffness <= self.integral:
            raise ConfigError(
                f"integral={self.integral}, must be below damping · stiffness = {self.damping * self.stiffness:g}: "
                "the centre of mass would swing up"
            )


@dataclass(frozen=True, slots=True)
class AngularMomentumConfig:
    """Of the centroidal angular momentum, by its second derivative.

    It is asked to be that of the legs as planned, and what brings the upper body back. Asked to be zero, it has arms
    and torso swing against the legs, and turn a little farther with each step.

    Attributes:
        weight: Of each (N·m/s)² that is missing about the horizontal axes, [-].
        vertical_weight: The same about the vertical, where it takes no part in the balance, [-].
        damping: k_d, of its first derivative, [1/s].
        stiffness: k_p, of itself, [1/s²].
        legs_share: Of the planned angular momentum of the legs about the horizontal axes that they are left, [-]; arms
            and trunk swing against the rest, and about the vertical against all of it.
        pelvis_recovery: Share of the pelvis' tilt by which the body may come upright in a second, [1/s].
        recovery: Share of what a joint is away from its posture by which it may come back in a second, by joint group,
            [1/s].
    """

    weight: float
    vertical_weight: float
    damping: float
    stiffness: float
    legs_share: float
    pelvis_recovery: float
    recovery: dict[str, float]

    def __post_init__(self) -> None:
        refuse_negative(self)
        for group, value in self.recovery.items():
            if value < 0.0:
                raise ConfigError(f"recovery.{group}={value}, must not be negative")


@dataclass(frozen=True, slots=True)
class StandingFootConfig:
    """Of a foot that stands.

    Attributes:
        attitude_weight: Of each (rad/s²)² that is missing to its orientation, on ground of the reference damping and
            stiffness, [-]: a sole turns as its moment changes, so it goes with the root of the weights of wrench rates,
            and tilts the less, the stiffer the ground.
        reference_stiffness: [N/m³].
        unloaded_weight: Added to it, and given to its place, [-], where the foot carries next to nothing.
        unloaded_force: Normal force at which half of that is left, [N].
        stiffness: [1/s²].
        damping: [1/s].
    """

    attitude_weight: float
    reference_stiffness: float
    unloaded_weight: float
    unloaded_force: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        refuse_negative(self)
        for name in ("unloaded_force", "reference_stiffness"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


@dataclass(frozen=True, slots=True)
class WrenchRateConfig:
    """Of the wrenches towards the expected ones.

    Attributes:
        bandwidth: k_f, [1/s].
        force_weight: Of each (N/s)² that is missing, [-].
        moment_weight: Of each (N·m/s)², [-].
    """

    bandwidth: float
    force_weight: float
    moment_weight: float

    def __post_init__(self) -> None:
        refuse_negative(self)


@dataclass(frozen=True, slots=True)
class CompliantTorqueControlConfig:
    """Of TSID-Compliant; its parts are documented at their classes.

    Attributes:
        linear_momentum: Centre of mass.
        angular_momentum: About the centre of mass.
        wrench_rate: Wrenches.
        standing_foot: Of a foot with load.
        swing_foot: Of a foot without.
        torso: Orientation of the torso frame.
        pelvis: Orientation of the base link.
        posture: Joints.
        wrench_cone: What the ground can exert.
        wrench_age: Of the measured wrenches, [s].
        wrench_time_constant: Of the low pass on what the model of the ground misses of them, 0 for none, [s].
        cone_horizon: After which a wrench has to be within the cone, [s]; at once nothing can change it.
        joint_limits: Positions.
        torque_limits: Torques.
        reference_damping: b + k Δt / 2 of the ground for which the weights of wrench rates are meant, [N·s/m³]; on
            other ground they change with its inverse square, for the rates that an acceleration makes change with it.
        search_speed: At which a foot that should stand and does not touch looks for the ground, [m/s].
    """

    linear_momentum: LinearMomentumConfig
    angular_momentum: AngularMomentumConfig
    wrench_rate: WrenchRateConfig
    standing_foot: StandingFootConfig
    swing_foot: PoseTaskConfig
    torso: OrientationTaskConfig
    pelvis: OrientationTaskConfig
    posture: PostureTaskConfig
    wrench_cone: WrenchConeConfig
    wrench_age: float
    wrench_time_constant: float
    cone_horizon: float
    joint_limits: JointLimitConfig
    torque_limits: TorqueLimitConfig
    reference_damping: float
    search_speed: float

    def __post_init__(self) -> None:
        refuse_negative(self)
        for name in ("reference_damping", "cone_horizon"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
