"""All that can be set about a walk; each part is defined beside the class that uses it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gradiva.common import ConfigError, ControlMode
from gradiva.estimation import StateEstimatorConfig
from gradiva.planner import PlannerConfig
from gradiva.simplified_model import DcmControllerConfig, DcmMpcConfig, GainScheduleConfig, ZmpComControllerConfig
from gradiva.walking.safety import SafetyConfig
from gradiva.whole_body import InverseKinematicsConfig, ServoFeedforwardConfig, SwingMomentumConfig


class SimplifiedModel(StrEnum):
    """Which law keeps the DCM on its reference."""

    DCM = "dcm"
    DCM_MPC = "dcm_mpc"


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
        if self.control is ControlMode.TORQUE:
            raise ConfigError("control=torque: this version controls positions and velocities")


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
        state_estimator: Estimation.
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
    state_estimator: StateEstimatorConfig
    swing_momentum: SwingMomentumConfig
    safety: SafetyConfig
