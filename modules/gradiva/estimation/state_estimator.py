"""State estimator: base by the stance foot and the inertial unit, or as measured; joints, feet, CoM, DCM and ZMP."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    GRAVITY,
    NO_JOINTS,
    BaseMeasurement,
    EstimationError,
    FootReference,
    ImuMeasurement,
    JointCommand,
    Measurement,
    NDArray,
    PlanarPose,
    RobotState,
    Side,
    WalkingReference,
    altered,
    configuration,
    low_pass_gain,
    minimum_jerk,
    setting,
    so3,
)
from gradiva.estimation.contact_estimator import ContactEstimator
from gradiva.estimation.estimators import Estimator
from gradiva.estimation.external_wrench_observer import ExternalWrenchObserver
from gradiva.estimation.flexible_joint_observer import FlexibleJointObserver, FlexibleJointState
from gradiva.estimation.floating_base_kinematics import CONSTANTS, BaseSource, MeasuredBase, state_function
from gradiva.estimation.foot_wrench_estimator import FootWrenchEstimator, FootWrenchSource, Past
from gradiva.robot_model import Compiler, ConfiguredRobot, IdynTreeModel, built_once, configured, interpreted

_OUTPUTS = (  # of the state function that are fields of the state
    "base_position",
    "base_rotation",
    "base_twist",
    "joint_velocities",
    "flexible_velocities",
    "com_position",
    "com_velocity",
    "dcm_position",
    "zmp_position",
    "zmp_completion",
    "zmp_lead",
    *(f"{side}_foot_{name}" for side in Side for name in ("position", "rotation", "twist", "wrench")),
)

_MEASURED = ("joint_positions", "joint_velocities", "contact_wrenches")
_measured = attrgetter(*_MEASURED)
_RIGID = FlexibleJointState(NO_JOINTS, NO_JOINTS, NO_JOINTS, NO_JOINTS)
_SAME = 1e-6  # [s] samples this close are of one instant
_REMEMBERED = 8  # samples of each kind, more than a stream may be ahead of the other one
DOUBLE_SUPPORT_LAG = 13.0  # [-] ages of wrenches by which the ZMP's low pass is longer on both feet; with 12 M_s > 2
STRIDE_OVER = 0.25  # [s] since one foot was in the air; between two steps walking needs the ZMP as young as it is
_LONGEST = 0.05  # [s] no prediction reaches farther: velocities have changed by then


class SamplePredictor:
    r"""Predicts joints and inertial unit over the ages of their samples, with a short memory of velocities.

    Joints are sampled at :math:`t_J`, the inertial unit at :math:`t_M`, and the state is wanted at :math:`t`. Joint
    velocities are taken at :math:`t_0`, the gyroscope's rate at :math:`t_1`, the older of the two samples. By default
    :math:`t_0 = t_1`, since velocities of two instants make a foot at rest seem to move. Torque control needs the
    newest joint velocities and sets ``follows_joints``: :math:`t_0 = t_J`, and the state function turns the base by
    what the joint velocities have changed since :math:`t_1`. Positions and attitude are of the present:

    .. math::
        \dot s(t_0), \omega(t_1), \dot s(t_0) - \dot s(t_1), \quad t_1 = \min(t_J, t_M), \qquad
        s(t) = s(t_J) + (t - t_J) \, \dot s(t_J), \qquad R(t) = R(t_M) \, Exp((t - t_M) \, \omega(t_M)).

    How far velocities then lag behind, :math:`t - t_0`, is left to the pendulum for the CoM's:
    :math:`\dot x(t) = \dot x(t_0) + (t - t_0) \, \omega_0^2 (x - z)` with the commanded ZMP z.
    """

    def __init__(self, follows_joints: bool = False) -> None:
        """Begin without memory; ``follows_joints``: velocities are of the joints' sample, whatever the IMU's age."""
        self._follows_joints = follows_joints
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._joint_velocities: deque[tuple[float, NDArray]] = deque(maxlen=_REMEMBERED)
        self._rates: deque[tuple[float, NDArray]] = deque(maxlen=_REMEMBERED)

    def at(self, measurement: Measurement, time: float, use_imu: bool) -> tuple[Measurement, float, npt.ArrayLike]:
        """Return the measurement at ``time`` [s], age of its velocities, [s], and their change, [rad/s], (n,) or 0.

        A measurement of that instant is returned as it is; one from the future counts as of that instant.

        Args:
            measurement: The newest samples of all sensors.
            time: [s].
            use_imu: Whether the state is made of the inertial unit as well.
        """
        imu = measurement.imu if use_imu else None
        taken, imu_taken = measurement.time, measurement.time if imu is None else measurement.imu_time
        if abs(time - taken) < _SAME and abs(time - imu_taken) < _SAME:
            return measurement, 0.0, 0.0
        age, imu_age = known_age(taken, time), known_age(imu_taken, time)
        velocities, oldest = measurement.joint_velocities, min(taken, imu_taken)
        then = _remembered(self._joint_velocities, taken, velocities, oldest)
        joint_velocities, lag = (velocities, age) if self._follows_joints else (then, max(age, imu_age))
        changes: dict[str, Any] = {"time": time, "joint_velocities": joint_velocities}
        changes["joint_positions"] = measurement.joint_positions + age * velocities
        if imu is not None:
            rate = _remembered(self._rates, imu_taken, imu.angular_velocity, oldest)
            rotation = imu.rotation @ so3.exp(imu_age * imu.angular_velocity)
            changes["imu"] = altered(imu, rotation=rotation, angular_velocity=rate, time=time)
        if measurement.base is not None:
            changes["base"] = _moved(measurement.base, age)
        return altered(measurement, **changes), lag, joint_velocities - then


def _remembered(samples: deque[tuple[float, NDArray]], taken: float, newest: NDArray, time: float) -> NDArray:
    """Remember a sample and return what was sampled at ``time`` [s], interpolated between the samples around it."""
    if not samples or taken > samples[-1][0]:
        samples.append((taken, newest))
    later_time, later = taken, newest
    for earlier_time, earlier in reversed(samples):
        if earlier_time <= time + _SAME:
            ratio = 0.0 if later_time <= earlier_time else (time - earlier_time) / (later_time - earlier_time)
            return earlier if ratio < 1e-9 else earlier + ratio * (later - earlier)
        later_time, later = earlier_time, earlier
    return later


def known_age(taken: float, time: float) -> float:
    """Return over how much is predicted from a sample of ``taken`` to ``time`` [s]; of the present exactly 0."""
    age = time - taken
    return 0.0 if age < _SAME else min(age, _LONGEST)


def _moved(base: BaseMeasurement, age: float) -> BaseMeasurement:
    """Return a base that has gone on with its twist for ``age`` [s]."""
    position = base.position + age * base.twist[:3]
    return altered(base, position=position, rotation=so3.exp(age * base.twist[3:]) @ base.rotation)


class OdometryBase:
    """The stance sole rests where it landed; tilt and angular velocity are those of the IMU, where there is one."""

    def __init__(self, anchor_blend_time: float, use_imu: bool, attitude_time_constant: float) -> None:
        """Take its part of ``StateEstimatorConfig``."""
        self._anchor = StanceAnchor(anchor_blend_time)
        self._use_imu, self._attitude_filter = use_imu, AttitudeFilter(attitude_time_constant)
        self.reset()

    @property
    def plan_origin(self) -> PlanarPose:
        """Return the origin of the plan's world in the frame of the odometry."""
        return self._anchor.plan_origin

    def reset(self) -> None:
        """Forget the past: the next stance sole is taken on its planned pose."""
        self._anchor.reset()
        self._attitude_filter.reset()
        self._first_heading_over_imu: float | None = None

    def inputs(
        self, measurement: Measurement, reference: WalkingReference, last: RobotState | None
    ) -> dict[str, npt.ArrayLike]:
        """Return the inputs of the state function that place the base.

        Args:
            measurement: One sample of all sensors.
            reference: The plan at the same time.
            last: The last estimate; None at the beginning.
        """
        imu = measurement.imu if self._use_imu else None
        stance, position, rotation = self._anchor.update(measurement.time, reference, last)
        inputs: dict[str, npt.ArrayLike] = {
            "left_is_stance": float(stance is Side.LEFT),
            "stance_position": position,
            "stance_rotation": rotation,
            "use_imu": 0.0,
        }
        if imu is not None:
            inputs |= {"use_imu": 1.0, **self._attitude_filter.inputs(imu, measurement.time)}
        return inputs

    def learn(self, outputs: Mapping[str, NDArray], measurement: Measurement) -> None:
        """Let the odometry turn with the IMU: a stance sole that slips about the vertical is seen by it alone."""
        if not self._use_imu or measurement.imu is None:
            return
        self._attitude_filter.learn(outputs["attitude"], measurement.imu, measurement.time)
        heading_over_imu = float(outputs["heading_over_imu"][0])
        if self._first_heading_over_imu is None:
            self._first_heading_over_imu = heading_over_imu
        self._anchor.turn_plan(so3.wrap_angle(self._first_heading_over_imu - heading_over_imu))


class StanceAnchor:
    """Hold the pose of the stance sole, continuous over contact switches.

    A foot never lands exactly where the plan put it. At the switch the new stance sole is taken where the estimate
    sees it, so nothing jumps; then the difference to the plan fades within ``blend_time``: the plan's feet are the
    robot's feet, and there is no lasting offset between the CoM reference and the foot that has to support it.
    The remaining error moves the origin of the plan in the frame of the odometry instead. A foot that lands early and
    carries all rests where it landed, and the other one slides.
    """

    def __init__(self, blend_time: float) -> None:
        self._blend_time = blend_time
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next stance sole is taken on its planned pose."""
        self._stance: tuple[Side, bool] | None = None  # and whether the plan has it on the ground
        self._switch_time = -np.inf
        self._position_offset, self._rotation_offset = np.zeros((2, 3))
        self._sole_by_odometry = self._anchor = self._from_anchor = PlanarPose()
        self._position = self._rotation = np.zeros(0)

    @property
    def plan_origin(self) -> PlanarPose:
        """Origin of the plan's world by odometry: the stance sole has not moved since it landed."""
        return self._sole_by_odometry @ self._from_anchor

    def turn_plan(self, yaw: float) -> None:
        """Turn the plan's world by ``yaw`` [rad] in the odometry: by that the stance sole has slipped."""
        sole = self._sole_by_odometry
        self._sole_by_odometry = PlanarPose(sole.x, sole.y, so3.wrap_angle(yaw + self._anchor.yaw))

    def update(
        self, time: float, reference: WalkingReference, last: RobotState | None
    ) -> tuple[Side, NDArray, NDArray]:
        """Return the stance side and the position (3,) and rotation (3, 3) of its sole in world.

        Args:
            time: [s].
            reference: Says which foot is the stance and where it was planned.
            last: The last estimate, with poses and loads of the soles; None at the beginning.
        """
        side = reference.stance_foot
        if last is not None and not reference.is_double_support:
            loads = last.left_foot_wrench[2], last.right_foot_wrench[2]
            load, other = loads if side is Side.LEFT else reversed(loads)
            side = side.other if other > max(MINIMUM_LOAD, load / _UNLOADED) else side
        planned = reference.foot(side)
        if (side, planned.in_contact) != self._stance:
            self._switch(time, side, planned, last)
        left = 1.0 - minimum_jerk((time - self._switch_time) / self._blend_time)[0]
        position, rotation = (planned.position, planned.rotation) if planned.in_contact else self._landed
        if left > 0.0 and planned.in_contact:
            position = position + left * self._position_offset
            rotation = so3.exp(left * self._rotation_offset) @ rotation
        if position is not self._position or rotation is not self._rotation:  # a sole that stands keeps both
            self._position, self._rotation = position, rotation
            self._anchor = PlanarPose.of(position, rotation)
            self._from_anchor = self._anchor.inverse()
        return side, position, rotation

    def _switch(self, time: float, side: Side, planned: FootReference, last: RobotState | None) -> None:
        if self._stance is None or last is None:
            self._sole_by_odometry = PlanarPose.of(planned.position, planned.rotation)
        else:
            position, rotation = self._landed = last.foot_position(side), last.foot_rotation(side)
            self._sole_by_odometry = self.plan_origin @ PlanarPose.of(position, rotation)
            self._position_offset = position - planned.position
            self._rotation_offset = so3.log(rotation @ planned.rotation.T)
            self._switch_time = time
        self._stance = side, planned.in_contact


class AttitudeFilter:
    r"""Complementary filter of gyroscope and measured attitude: its state; its equations run within the state function.

    The gyroscope turns the last attitude :math:`\hat R_{k-1}` to the present, the measured one R pulls it with time
    constant T:

    .. math::
        \hat R^- &= \hat R_{k-1} \, Exp(\tfrac{\Delta}{2} (\omega_{k-1} + \omega_k)), &
        e &= \tfrac12 (R \hat R^{-\top} - \hat R^- R^\top)^\vee, \\
        \hat R_k &= Exp(-(1 - \alpha) \, e) \, R, & \alpha &= 1 - e^{-\Delta / T}.

    e is the sine of the angle about its axis, so what is measured is believed the sooner the farther it is off. Written
    from R, no rounding error accumulates.
    """

    def __init__(self, time_constant: float) -> None:
        """Take T, [s]; 0 believes the measured attitude."""
        self._time_constant = time_constant
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measured attitude is taken as it is."""
        self._last: tuple[float, NDArray, NDArray] | None = None

    def inputs(self, imu: ImuMeasurement, time: float) -> dict[str, npt.ArrayLike]:
        """Return the inputs of ``filtered_attitude``.

        Args:
            imu: As measured.
            time: Of the measurement, [s].
        """
        last_time, attitude, rate = self._last or (time, imu.rotation, imu.angular_velocity)
        period = time - last_time
        return {
            "imu_rotation": imu.rotation,
            "imu_rate": imu.angular_velocity,
            "imu_period": period,
            "last_attitude": attitude,
            "last_imu_rate": rate,
            "attitude_gain": low_pass_gain(self._time_constant, period),
        }

    def learn(self, attitude: NDArray, imu: ImuMeasurement, time: float) -> None:
        """Remember the result of ``filtered_attitude``, and of what it was made at ``time`` [s]."""
        self._last = time, attitude.copy(), imu.angular_velocity


_ANCHOR_BLEND_TIME = 0.2  # [s] in which a landed sole's offset from its plan fades
_UNLOADED = 0.05  # [-] of the load of the other foot, on a stance foot that has left the ground
MINIMUM_LOAD = 20.0  # [N], or a fifth of the weight, of both feet: below it the last ZMP holds
_SWING_LOAD = 0.03  # [-] of the weight, up to which a planned swing carries nothing: a fast foot's inertia is 0.02


@configuration
class StateEstimatorConfig:
    """Filters of the estimate.

    Attributes:
        base: Where pose and twist of the base come from.
        foot_wrenches: Source of the wrenches of the feet: their force-torque sensors, or joint torques and motion, see
            ``foot_wrench_estimator``; always those where the robot has no such sensors.
        use_imu: Take roll, pitch and angular velocity of the base from the IMU where there is one.
        attitude_time_constant: With which the IMU's attitude pulls the one that its gyroscope integrates to; 0: it is
            taken as it is, [s].
        velocity_time_constant: Of the low pass on all velocities that are measured, of joints and base alike; 0 for
            none, [s].
        zmp_time_constant: Of the low pass on the measured ZMP, [s].
        com_velocity_time_constant: Of the low pass on the CoM velocity, above which the pendulum counts; 0: none, [s].
        predicts: Predict joints, attitude and CoM velocity from the times of their samples to the present; otherwise
            all samples are taken to be of the joints' time.
        wrench_filter_time_constant: Of the low pass that the robot has put on its wrenches, 0 for raw ones, [s]. Above
            its bandwidth the commanded ZMP is taken instead of the measured one.
        wrench_age_factor: Ages of the wrenches by which the time constant of that low pass is longer, [-]: a delay a is
            a lag a at low frequencies, and the age does not contain the sample's mean and the way of the command.
    """

    base: BaseSource
    foot_wrenches: FootWrenchSource
    use_imu: bool
    attitude_time_constant: float = setting("s", least=0.0)
    velocity_time_constant: float = setting("s", least=0.0)
    zmp_time_constant: float = setting("s", least=0.0)
    com_velocity_time_constant: float = setting("s", least=0.0)
    predicts: bool
    wrench_filter_time_constant: float = setting("s", least=0.0)
    wrench_age_factor: float = setting("-", least=0.0)


class StateEstimator(Estimator):
    """Estimates the floating-base state from encoders, foot wrenches and, where there is one, an IMU.

    Or from a measurement of the base, where it is configured so.

    The equations stand in ``floating_base_kinematics``.

    Attributes:
        flexible_joints: Their observer; None: the model has none.
        foot_wrenches: Estimates those that no sensor measures.
    """

    def __init__(
        self,
        model: IdynTreeModel,
        config: StateEstimatorConfig | None = None,
        compiler: Compiler = interpreted,
        contacts: ContactEstimator | None = None,
        external_wrench: ExternalWrenchObserver | None = None,
        flexible_joints: FlexibleJointObserver | None = None,
        follows_joints: bool = False,
    ) -> None:
        """Build the equations.

        Args:
            model: Of the robot, with its flexible joints where they are observed.
            config: Filters, and where the base comes from; None: those that the robot brings.
            compiler: How the equations become fast.
            contacts: Estimates the contacts with soft ground; None: the state has none.
            external_wrench: Estimates the external wrench; None: the state has none.
            flexible_joints: Observes the flexible joints of the model; None: it has none.
            follows_joints: See `SamplePredictor`.
        """
        if config is None:
            config = configured(StateEstimatorConfig, cast(ConfiguredRobot, model), "state_estimator")
        self._config = config
        self._contacts, self._external_wrench, self.flexible_joints = contacts, external_wrench, flexible_joints
        self._joints = (len(model.description.measured),)
        self._wrenches = (len(model.description.force_torque_sensors), 6)
        self.foot_wrenches = FootWrenchEstimator(model, compiler)
        key = (state_function, model.fingerprint, config.base, compiler)
        self._function = built_once(key, lambda: state_function(model, config.base, compiler))
        constants = {name: getattr(config, name) for name in CONSTANTS if name not in ("swing_force", "minimum_load")}
        weight = model.mass * GRAVITY
        self._function.set(**constants, minimum_load=min(MINIMUM_LOAD, 0.2 * weight), swing_force=_SWING_LOAD * weight)
        self._state = self._function.maker(RobotState, _OUTPUTS)
        by_stance = OdometryBase(_ANCHOR_BLEND_TIME, config.use_imu, config.attitude_time_constant)
        self._base = by_stance if config.base is BaseSource.ODOMETRY else MeasuredBase()
        self._predictor = SamplePredictor(follows_joints)
        self._commands: tuple[JointCommand | None, JointCommand | None] = None, None
        self._period = math.inf  # [s] from the state before to the last one
        self._use_imu = config.use_imu and config.base is BaseSource.ODOMETRY
        self.reset()

    @classmethod
    def built(cls, shipped: StateEstimator, own: Any) -> Estimator:
        """Return the shipped estimator itself."""
        return shipped

    def reset(self) -> None:
        """Forget the past: the next update takes the stance sole on its planned pose."""
        self._base.reset()
        self._predictor.reset()
        self.foot_wrenches.reset()
        self._function.inputs["memory"][:] = 0.0
        for part in (self._contacts, self.flexible_joints, self._external_wrench):
            if part is not None:
                part.reset()
        self._last: RobotState | None = None
        self._before: RobotState | None = None
        self._past_time = self._time = self._one_foot_time = -math.inf

    def note_gap(self) -> None:
        """Note that the clock jumped: the duration until the next sample is not known."""
        self._past_time = -math.inf
        if self._external_wrench is not None:
            self._external_wrench.note_gap()

    def note_command(self, command: JointCommand) -> None:
        """See ``Estimator.note_command``."""
        self._commands = self._commands[1], command

    def update(
        self,
        measurement: Measurement,
        reference: WalkingReference,
        time: float | None = None,
        commanded_zmp: NDArray | None = None,
    ) -> RobotState:
        """Return the state at ``time``, or at the measurement where nothing is predicted.

        Args:
            measurement: The newest sample of each sensor; wrenches that are not numbers are estimated.
            reference: The plan at the same time: the stance foot and its pose, the natural frequency.
            time: For which the state is wanted, [s]; None: for that of the joints' sample.
            commanded_zmp: That of the last tick, world, [m], shape (2,); None: the planned one.

        Raises:
            EstimationError: The sample has the wrong size, is not finite, or is older than the last.
        """
        lag, age, change = 0.0, 0.0, cast(npt.ArrayLike, 0.0)
        if time is not None and self._config.predicts:
            age = known_age(measurement.wrenches_time, time)
            measurement, lag, change = self._predictor.at(measurement, time, self._use_imu)
        self._check(measurement)
        measurement, is_measured = self._with_wrenches(measurement, reference)
        zmp_lag = self._zmp_lag(reference, measurement.time, age)
        wrench_lag = self._config.wrench_filter_time_constant + self._config.wrench_age_factor * age
        zmp = reference.dcm.zmp_position if commanded_zmp is None else commanded_zmp
        lags: dict[str, npt.ArrayLike] = {"velocity_lag": lag, "wrench_lag": wrench_lag, "zmp_lag": zmp_lag}
        lags |= {"commanded_zmp": zmp, "velocities_since_imu": change}
        observed = _RIGID
        if self.flexible_joints is not None:
            observed = self.flexible_joints.update(measurement, reference, self._last)
            lags |= {"flexible_positions": observed.positions, "measured_flexible_velocities": observed.velocities}
        outputs = self._evaluate(measurement, reference, lags)
        self._time = measurement.time
        self._base.learn(outputs, measurement)
        state = self._state(
            joint_positions=measurement.joint_positions,
            flexible_positions=observed.positions,
            flexible_torques=observed.torques,
            flexible_stiffness=observed.stiffness,
            plan_origin=self._base.plan_origin,
            left_contact=None,
            right_contact=None,
            zmp_is_measured=is_measured,
            velocity_lag=lag,
            zmp_lag=zmp_lag,
        )
        self._note(state, measurement.time)
        return self._completed(state, reference, measurement.time)

    def _completed(self, state: RobotState, reference: WalkingReference, time: float) -> RobotState:
        """Return the state with what is estimated from it."""
        if self._external_wrench is not None:
            state = altered(state, external_wrench=self._external_wrench.update(state, time))
        if self._contacts is not None:
            state = state.with_contacts(*self._contacts.update(state, reference, time))
        return state

    def _zmp_lag(self, reference: WalkingReference, time: float, age: float) -> float:
        """Return the time constant of the ZMP's low pass, [s]; on both feet it grows with the age of the wrenches."""
        if not reference.is_double_support:
            self._one_foot_time = time
        elif time - self._one_foot_time > STRIDE_OVER:
            return self._config.zmp_time_constant + DOUBLE_SUPPORT_LAG * age
        return self._config.zmp_time_constant

    def _note(self, state: RobotState, time: float) -> None:
        """Keep a state, and the one of the sample before it."""
        if time > self._past_time:
            self._before, self._period = self._last, time - self._past_time
            self._past_time = time
        self._last = state

    def _evaluate(
        self, measurement: Measurement, reference: WalkingReference, lags: Mapping[str, npt.ArrayLike]
    ) -> Mapping[str, NDArray]:
        function, values = self._function, self._base.inputs(measurement, reference, self._last)
        values.update(zip(_MEASURED, _measured(measurement), strict=True), period=measurement.time - self._time)
        left, right, stance = reference.left_foot, reference.right_foot, reference.foot(reference.stance_foot)
        values.update(lags, left_in_contact=left.in_contact, right_in_contact=right.in_contact)
        values.update(natural_frequency=reference.dcm.natural_frequency, contact_normal=stance.rotation[:, 2])
        function.write(values)
        outputs = function()
        if not function.is_finite:
            raise self._without_numbers(measurement)
        function.inputs["memory"][...] = outputs["memory"]
        return outputs

    def _with_wrenches(self, measurement: Measurement, reference: WalkingReference) -> tuple[Measurement, bool]:
        """Return the measurement with finite wrenches, and whether anything was measured of each."""
        flat = measurement.contact_wrenches.ravel()
        if math.isfinite(flat.dot(flat)):  # a quarter of the time of asking each number
            return measurement, True
        if np.isinf(measurement.contact_wrenches).any():
            raise EstimationError(f"contact_wrenches is not finite at {measurement.time:.3f} s")
        before = self._before if math.isfinite(self._period) else None
        command_before, command = self._commands
        past = Past(self._last, before, self._period, command, command_before)
        if self.flexible_joints is not None:
            past = Past()  # by the plan alone: joints bend as wrenches have it, which were to be found by how they bend
        return self.foot_wrenches.completed(measurement, reference, past), self.foot_wrenches.is_observed

    def _check(self, measurement: Measurement) -> None:
        if not math.isfinite(measurement.time):
            raise EstimationError(f"the measurement's time is {measurement.time} s")
        if measurement.time < self._time:
            raise EstimationError(f"the measurement at {measurement.time:.3f} s is older than the last one")
        positions, velocities, wrenches = _measured(measurement)
        if not (positions.shape == velocities.shape == self._joints and wrenches.shape == self._wrenches):
            for name, shape in zip(_MEASURED, (self._joints, self._joints, self._wrenches), strict=True):
                if (found := getattr(measurement, name).shape) != shape:
                    raise EstimationError(f"{name} has shape {found}, the robot has {shape}")

    def _without_numbers(self, measurement: Measurement) -> EstimationError:
        """Return the error for a state that is not finite, of which nothing is remembered; it names the reading."""
        readings, imu = {name: getattr(measurement, name) for name in _MEASURED}, measurement.imu
        if imu is not None and self._use_imu:
            self._function.set(imu_rotation=np.eye(3), imu_rate=0.0)
        readings["the IMU"] = np.zeros(0) if imu is None else np.append(imu.rotation, imu.angular_velocity)
        wrong = [name for name, reading in readings.items() if not np.isfinite(reading).all()]
        return EstimationError(f"{wrong[0] if wrong else 'the state'} is not finite at {measurement.time:.3f} s")
