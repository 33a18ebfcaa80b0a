"""All that can be set about a walk; each part is defined beside the class that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradiva.common import ConfigError, ControlMode
from gradiva.estimation import ContactEstimatorConfig, StateEstimatorConfig
from gradiva.planner import PlannerConfig
from gradiva.safety import SafetyConfig
from gradiva.simplified_model import (
    BalanceConfig,
    DcmControllerConfig,
    GainScheduleConfig,
    ZmpComControllerConfig,
    balance_law,
)
from gradiva.whole_body import (
    CompliantTorqueControlConfig,
    InverseKinematicsConfig,
    RigidTorqueControlConfig,
    ServoFeedforwardConfig,
    SwingMomentumConfig,
)


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
        model: Law of layer 2: its name in ``gradiva.simplified_model.balance_laws``, or ``package.module:Class``.
        control: Layer 3 and the mode of the servos.
        torso_lean: Forward lean of the torso, [rad].
        prepare_duration: Least duration of the move to the start posture, [s].
        prepare_speed: Highest joint speed of that move, [rad/s].
        replan_margin: A command that never ends is planned anew when the plan has less than this left, [s].
    """

    period: float
    model: str
    control: ControlMode
    torso_lean: float
    prepare_duration: float
    prepare_speed: float
    replan_margin: float

    def __post_init__(self) -> None:
        for name in ("period", "prepare_duration", "prepare_speed", "replan_margin"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        try:
            balance_law(self.model)
        except ConfigError as error:
            raise ConfigError(f"model={self.model}: {error}") from None


@dataclass(frozen=True, slots=True)
class WalkingConfig:
    """One part a table of the configuration files.

    Attributes:
        walking: The tick.
        planner: Layer 1.
        dcm_controller: Layer 2, instantaneous law.
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
        balance_laws: Of layer 2, by name of the law: the tables of the shipped laws and of the chosen one.
    """

    walking: TickConfig
    planner: PlannerConfig
    dcm_controller: DcmControllerConfig
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
    balance_laws: Mapping[str, Any]

    @property
    def balance(self) -> BalanceConfig:
        """Configuration of layer 2."""
        model = self.walking.model
        law = self.balance_laws.get(model)
        return BalanceConfig(model, law, self.dcm_controller, self.zmp_com_controller, self.gain_schedule)

    @property
    def knows_soft_ground(self) -> bool:
        """Whether layer 3 takes the ground to be soft."""
        return self.walking.control is ControlMode.TORQUE and self.torque_control.ground is GroundModel.COMPLIANT

    def __post_init__(self) -> None:
        if self.walking.control is not ControlMode.TORQUE:
            self.zmp_com_controller.check_for_motion_servos()
