"""From sensors to the robot's state: base by the stance foot and the IMU, CoM, DCM, ZMP, feet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gradiva.common import (
    GRAVITY,
    ConfigError,
    EstimationError,
    Measurement,
    NDArray,
    RobotState,
    Side,
    WalkingReference,
)
from gradiva.estimation.base_estimate import BaseEstimate, MeasuredBase, OdometryBase
from gradiva.estimation.contact_estimator import ContactEstimator
from gradiva.estimation.floating_base_kinematics import CONSTANTS, BaseSource, state_function
from gradiva.robot_model import Compiler, IdynTreeModel, built_once, interpreted

_OUTPUTS = (  # of the state function that are fields of the state
    "base_position",
    "base_rotation",
    "base_twist",
    "joint_velocities",
    "com_position",
    "com_velocity",
    "dcm_position",
    "zmp_position",
    *(f"{side}_foot_{name}" for side in Side for name in ("position", "rotation", "twist", "wrench")),
)
_TIME_CONSTANTS = (  # at zero, nothing is filtered
    "attitude_time_constant",
    "velocity_time_constant",
    "zmp_time_constant",
    "com_velocity_time_constant",
)


@dataclass(frozen=True, slots=True)
class StateEstimatorConfig:
    """Filters of the estimate.

    Attributes:
        base: Where pose and twist of the base come from.
        use_imu: Take roll, pitch and angular velocity of the base from the IMU where there is one.
        anchor_blend_time: In which the stance sole's offset from its plan fades after a switch, [s].
        attitude_time_constant: With which the IMU's attitude pulls the one that its gyroscope integrates to; 0: it is
            taken as it is, [s].
        velocity_time_constant: Of the low pass on all velocities that are measured, of joints and base alike; 0 for
            none, [s].
        zmp_time_constant: Of the low pass on the measured ZMP, [s].
        com_velocity_time_constant: Of the low pass on the CoM velocity; 0 for none, [s].
        minimum_load: Below it the feet give no ZMP and the last one holds, [N].
        swing_load: Fraction of the weight up to which a foot that the plan has in the air counts as carrying nothing.
    """

    base: BaseSource
    use_imu: bool
    anchor_blend_time: float
    attitude_time_constant: float
    velocity_time_constant: float
    zmp_time_constant: float
    com_velocity_time_constant: float
    minimum_load: float
    swing_load: float

    def __post_init__(self) -> None:
        for name in _TIME_CONSTANTS:
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")
        for name in ("anchor_blend_time", "minimum_load", "swing_load"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class StateEstimator:
    """Estimates the floating-base state from encoders, foot wrenches and, where there is one, an IMU.

    Or from a measurement of the base, where it is configured so.

    The equations stand in ``floating_base_kinematics``.
    """

    def __init__(
        self,
        model: IdynTreeModel,
        config: StateEstimatorConfig,
        compiler: Compiler = interpreted,
        contacts: ContactEstimator | None = None,
    ) -> None:
        """Build the equations.

        Args:
            model: Of the robot.
            config: Filters, and where the base comes from.
            compiler: How the equations become fast.
            contacts: Estimates the contacts with soft ground; None: the state has none.
        """
        self._config = config
        self._contacts = contacts
        self._joints = (len(model.description.joints),)
        self._wrenches = (len(model.description.force_torque_sensors), 6)
        key = (state_function, model.fingerprint, config.base, compiler)
        self._function = built_once(key, lambda: state_function(model, config.base, compiler))
        constants = {name: getattr(config, name) for name in CONSTANTS if name != "swing_force"}
        self._function.set(**constants, swing_force=config.swing_load * model.mass * GRAVITY)
        self._state = self._function.maker(RobotState, _OUTPUTS)
        self._base = self._base_estimate()
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next update takes the stance sole on its planned pose."""
        self._base.reset()
        self._function.inputs["memory"][:] = 0.0
        if self._contacts is not None:
            self._contacts.reset()
        self._time = -math.inf
        self._feet: dict[Side, tuple[NDArray, NDArray]] = {}

    def update(self, measurement: Measurement, reference: WalkingReference) -> RobotState:
        """Return the state at the measurement.

        Args:
            measurement: One sample of all sensors.
            reference: The plan at the same time: the stance foot and its pose, the natural frequency.

        Raises:
            EstimationError: The sample has the wrong size, is not finite, or is older than the last.
        """
        self._check(measurement)
        outputs = self._evaluate(measurement, reference)
        self._time = measurement.time
        self._base.learn(outputs, measurement)
        state = self._state(
            joint_positions=measurement.joint_positions,
            plan_origin=self._base.plan_origin,
            left_contact=None,
            right_contact=None,
            zmp_is_measured=True,
        )
        self._feet = {
            Side.LEFT: (state.left_foot_position, state.left_foot_rotation),
            Side.RIGHT: (state.right_foot_position, state.right_foot_rotation),
        }
        if self._contacts is None:
            return state
        return state.with_contacts(*self._contacts.update(state, reference, measurement.time))

    def _base_estimate(self) -> BaseEstimate:
        config = self._config
        if config.base is BaseSource.MEASURED:
            return MeasuredBase()
        return OdometryBase(config.anchor_blend_time, config.use_imu, config.attitude_time_constant)

    def _evaluate(self, measurement: Measurement, reference: WalkingReference) -> Mapping[str, NDArray]:
        function = self._function
        function.set(
            joint_positions=measurement.joint_positions,
            joint_velocities=measurement.joint_velocities,
            contact_wrenches=measurement.contact_wrenches,
            period=measurement.time - self._time,
            natural_frequency=reference.dcm.natural_frequency,
            left_in_contact=reference.left_foot.in_contact,
            right_in_contact=reference.right_foot.in_contact,
            contact_normal=reference.foot(reference.stance_foot).rotation[:, 2],
            **self._base.inputs(measurement, reference, self._feet),
        )
        outputs = function()
        function.inputs["memory"][...] = outputs["memory"]
        return outputs

    def _check(self, measurement: Measurement) -> None:
        if not math.isfinite(measurement.time):
            raise EstimationError(f"the measurement's time is {measurement.time} s")
        if measurement.time < self._time:
            raise EstimationError(f"the measurement at {measurement.time:.3f} s is older than the last one")
        for name, value, shape in (
            ("joint_positions", measurement.joint_positions, self._joints),
            ("joint_velocities", measurement.joint_velocities, self._joints),
            ("contact_wrenches", measurement.contact_wrenches, self._wrenches),
        ):
            if value.shape != shape:
                raise EstimationError(f"{name} has shape {value.shape}, the robot has {shape}")
            flat = value.ravel()
            if not math.isfinite(flat.dot(flat)):  # a quarter of the time of asking each number
                raise EstimationError(f"{name} is not finite at {measurement.time:.3f} s")
