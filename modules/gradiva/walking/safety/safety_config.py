"""All that can be set about safety."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gradiva.common import ConfigError, ControlClockConfig
from gradiva.walking.safety.failure_policy import FailurePolicyConfig
from gradiva.walking.safety.fall_watch import FallWatchConfig
from gradiva.walking.safety.foot_watch import FootWatchConfig
from gradiva.walking.safety.joint_watch import JointWatchConfig
from gradiva.walking.safety.motor_watch import MotorWatchConfig
from gradiva.walking.safety.reference_watch import ReferenceWatchConfig
from gradiva.walking.safety.safety_event import Response, SafetyKind
from gradiva.walking.safety.sensor_bridge import SensorBridgeConfig


@dataclass(frozen=True, slots=True)
class ResponsesConfig:
    """What is done about what can be chosen: a field a ``SafetyKind``.

    Failed ticks that last and the emergency stop are not among them: there is nothing to finish a step with.
    """

    joint_position: Response
    joint_velocity: Response
    joint_torque: Response
    joint_tracking: Response
    motor_warm: Response
    motor_hot: Response
    centre_of_pressure: Response
    foot_force: Response
    tilt: Response
    base_height: Response
    dcm_error: Response
    sensor_not_finite: Response
    encoder_jump: Response
    sensor_frozen: Response
    stale_measurement: Response
    stale_reference: Response
    clock_jump: Response
    control_mode: Response
    relaxed: Response
    failed_tick: Response

    def of(self, kind: SafetyKind) -> Response:
        """Return what is done about ``kind``."""
        return getattr(self, kind, Response.FREEZE)


@dataclass(frozen=True, slots=True)
class SafetyConfig:
    """Table ``[safety]``; its parts are documented at their classes.

    Attributes:
        responses: What is done about each.
        joints: Limits and tracking of the joints.
        motors: Temperatures.
        feet: Force and centre of pressure.
        fall: A robot that cannot be caught.
        sensors: Readings that cannot be believed.
        reference: A planner that stopped.
        clock: How far control time goes on in one tick.
        failures: Ticks without measurement or solution.
    """

    responses: ResponsesConfig
    joints: JointWatchConfig
    motors: MotorWatchConfig
    feet: FootWatchConfig
    fall: FallWatchConfig
    sensors: SensorBridgeConfig
    reference: ReferenceWatchConfig
    clock: ControlClockConfig
    failures: FailurePolicyConfig

    def __post_init__(self) -> None:
        for field in fields(self.responses):
            is_fall = field.name in (SafetyKind.TILT, SafetyKind.DCM_ERROR, SafetyKind.BASE_HEIGHT)
            if is_fall and getattr(self.responses, field.name) is Response.FINISH_STEP:
                raise ConfigError(f"responses.{field.name}='{Response.FINISH_STEP}': a robot that falls cannot")
