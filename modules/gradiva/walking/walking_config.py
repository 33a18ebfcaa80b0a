"""All that can be set about a walk; each part is defined beside the class that uses it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gradiva.common import ConfigError, ControlMode
from gradiva.estimation import ContactEstimatorConfig, StateEstimatorConfig
from gradiva.planner import PlannerConfig
from gradiva.safety import SafetyConfig
from gradiva.simplified_model import DcmControllerConfig, DcmMpcConfig, GainScheduleConfig, ZmpComControllerConfig
from gradiva.whole_body import (
    CompliantTorqueControlConfig,
    InverseKinematicsConfig,
    RigidTorqueControlConfig,
    ServoFeedforwardConfig,
    SwingMomentumConfig,
)


class SimplifiedModel(StrEnum):
    """Which law keeps the DCM on its reference."""

    DCM = "dcm"
    DCM_MPC = "dcm_mpc"


class GroundModel(StrEnum):
    """What torque control takes the ground to be."""

    RIGID = "rigid"
    COMPLIANT = "compliant"


@dataclass(frozen=True, slots=True)
class TorqueControlConfig:
    """Layer 3 where it commands torques.

    Attributes:
        ground: Which of its controllers it is.
        torque_rate: By which the commanded torques change at most, [N·m/s].
    """

    ground: GroundModel
    torque_rate: float

    def __post_init__(self) -> None:
        if self.torque_rate <= 0.0:
            raise ConfigError(f"torque_rate={self.torque_rate}, must be positive")


@dataclass(frozen=True, slots=True)
class TickConfig:
    """What belongs to no single layer.

    Attributes:
        period: Of the controller, [s].
        model: Layer 2.
        control: Layer 3 and the mode of the servos.
        torso_lean: Forward lean of the torso, [rad].
        prepare_duration: Least duration of the move to the start posture, [s].
        prepare_speed: Highest joint speed of that move, [rad/s].
        replan_margin: A command that never ends is planned anew when the plan has less than this left, [s].
    """

    period: float
    model: SimplifiedModel
    control: ControlMode
    torso_lean: float
    prepare_duration: float
    prepare_speed: float
    replan_margin: float

    def __post_init__(self) -> None:
        for name in ("period", "prepare_duration", "prepare_speed", "replan_margin"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


@dataclass(frozen=True, slots=True)
class WalkingConfig:
    """One part a table of the configuration files.

    Attributes:
        walking: The tick.
        planner: Layer 1.
        dcm_controller: Layer 2, instantaneous.
        dcm_mpc: Layer 2, predictive.
        zmp_com_controller: Layer 2, towards the body.
        gain_schedule: Between standing and walking.
        inverse_kinematics: Layer 3.
        servo_feedforward: Layer 3, position control.
        torque_control: Layer 3, torque control.
        rigid_torque_control: The same for rigid ground.
        compliant_torque_control: The same for soft ground.
        state_estimator: Estimation.
        contact_estimator: The contacts with soft ground.
        swing_momentum: Between layers 2 and 3: the swinging foot's share in the ZMP.
        safety: What is borne, and what is done beyond it.
    """

    walking: TickConfig
    planner: PlannerConfig
    dcm_controller: DcmControllerConfig
    dcm_mpc: DcmMpcConfig
    zmp_com_controller: ZmpComControllerConfig
    gain_schedule: GainScheduleConfig
    inverse_kinematics: InverseKinematicsConfig
    servo_feedforward: ServoFeedforwardConfig
    torque_control: TorqueControlConfig
    rigid_torque_control: RigidTorqueControlConfig
    compliant_torque_control: CompliantTorqueControlConfig
    state_estimator: StateEstimatorConfig
    contact_estimator: ContactEstimatorConfig
    swing_momentum: SwingMomentumConfig
    safety: SafetyConfig

    @property
    def knows_soft_ground(self) -> bool:
        """Whether layer 3 takes the ground to be soft."""
        return self.walking.control is ControlMode.TORQUE and self.torque_control.ground is GroundModel.COMPLIANT

    def __post_init__(self) -> None:
        if self.walking.control is not ControlMode.TORQUE:
            self.zmp_com_controller.check_for_motion_servos()
