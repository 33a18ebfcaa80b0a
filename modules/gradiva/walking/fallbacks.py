"""Fallbacks of a tick: limits of commands, torque ramp, stand-ins for layers 2 and 3."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, TypeGuard

import numpy as np

from gradiva.common import (
    ControlMode,
    Debounce,
    JointCommand,
    Measurement,
    NDArray,
    NoSolutionFound,
    RobotState,
    sealed,
)
from gradiva.safety import Finding, JointBounds, SafetyKind, failed_tick, log_traceback
from gradiva.simplified_model import (
    BalanceConfig,
    BalanceLayer,
    BalanceMemory,
    BalancePlan,
    BalanceReference,
    GainProgress,
    LawMemory,
    fallback_layer,
)
from gradiva.whole_body import WholeBodyController, WholeBodyReference, backed_controller

_FARTHEST_OFFSET = 4.0  # [-] of a servo's deflection at its torque limit; arms of robots that walk fast: 3.2
_FARTHEST = 0.15  # [rad] from its set-point that a joint is still held by it; standing robots yield by 0.03
_ROUNDING = 1e-9  # [s] sums of periods are not exact


class CommandLimiter:
    r"""Limits commands to the bounds of the joints and remembers the last one.

    With the limits :math:`\underline s, \bar s, \bar v, \bar\tau` of a joint, its servo's stiffness :math:`k` and the
    desired position :math:`s_d`, which layer 3 keeps within :math:`|\Delta s_d| \le \bar v \Delta t`, and the lead
    :math:`l` against the damping of the servos,

    .. math:: |s^* - s_d| \le 4 \bar\tau / k + l, \qquad \underline s \le s^* \le \bar s, \qquad
              |\dot s^*| \le \bar v, \qquad |\tau^*| \le \bar\tau

    Control boards hold set-points at the position limits as well: a robot over ports moves as one in the same process.
    The rate of torques is limited by ``TorqueRamp``.

    Attributes:
        last: None before the first command.
        at_rest: No velocity in any joint: for joints of which no position is known.
    """

    def __init__(self, bounds: JointBounds, torque_rate: float = math.inf) -> None:
        """Take the bounds of the joints, and the highest rate of their torques, [N·m/s]."""
        self._bounds, self._ramp = bounds, TorqueRamp(torque_rate, bounds.torques)
        yielding = bounds.torques / bounds.stiffness
        self._limits = {
            ControlMode.POSITION: (bounds.lower, bounds.upper),
            ControlMode.VELOCITY: (-bounds.velocities, bounds.velocities),
            ControlMode.TORQUE: (-bounds.torques, bounds.torques),
        }
        self._farthest_offset = _FARTHEST_OFFSET * yielding + bounds.leads
        self._per_offset = 1.0 / self._farthest_offset
        self.at_rest: JointCommand = JointCommand(ControlMode.VELOCITY, np.zeros(len(yielding)))
        self.last: JointCommand | None = None

    def reset(self) -> None:
        """Let the next torques start from the measured ones; the last command stays."""
        self._ramp.reset()

    def limited(self, command: JointCommand, desired: NDArray, torques: NDArray, period: float) -> JointCommand:
        """Return the command for a period [s], ``within_limits`` and that of its rate from measured torques [N·m]."""
        return self._ramp.limited(self.within_limits(command, desired), torques, period)

    def within_limits(self, command: JointCommand, desired: NDArray | None = None) -> JointCommand:
        """Return a command with each joint's value within its limits; nearly always itself.

        Args:
            command: Of layer 3.
            desired: Positions of the joints without feed-forward, [rad], shape (n,).

        Raises:
            NoSolutionFound: It has another size than the robot, or is not finite.
        """
        (lower, upper), values = self._limits[command.mode], command.values
        if command.mode is not ControlMode.POSITION:
            if values.shape == upper.shape and np.count_nonzero(np.abs(values) <= upper) == len(upper):  # not of NaN
                return command
        elif desired is not None and self._is_surely_within(values, desired, lower, upper):
            return command
        if values.shape != lower.shape or not math.isfinite(values.dot(values)):
            wrong = f"{values.shape}, {np.count_nonzero(~np.isfinite(values))} of it not finite"
            raise NoSolutionFound("layer 3", f"a command of {command.mode} with shape {wrong}")
        if desired is not None and command.mode is ControlMode.POSITION:
            lower = np.maximum(lower, desired - self._farthest_offset)
            upper = np.minimum(upper, desired + self._farthest_offset)
        bounded = np.minimum(np.maximum(values, lower), upper)
        return JointCommand(command.mode, sealed(bounded)) if np.count_nonzero(bounded != values) else command

    def _is_surely_within(self, values: NDArray, desired: NDArray, lower: NDArray, upper: NDArray) -> bool:
        """Return whether no value is near a limit or far from its joint; NaN is not, and cheaper than to limit."""
        if not values.shape == desired.shape == lower.shape:
            return False
        offset = (values - desired) * self._per_offset
        is_near = offset.dot(offset) <= 0.99
        return bool(is_near) and not np.count_nonzero(values < lower) and not np.count_nonzero(values > upper)

    def start_of_move(self, measurement: Measurement) -> NDArray:
        """Return the positions with which a move of position servos begins without a jump, [rad], shape (n,).

        The last commanded positions, as loaded servos have deflected; a joint that is farther away has been moved from
        outside meanwhile, and begins where it is.
        """
        if self.last is None or self.last.mode is not ControlMode.POSITION:
            return self._taken_over(measurement.joint_positions, measurement)
        is_held = np.abs(self.last.values - measurement.joint_positions) < _FARTHEST
        return np.where(is_held, self.last.values, measurement.joint_positions)

    def frozen(self, measurement: Measurement | None, accepted: NDArray | None) -> JointCommand:
        """Return the command that stops the joints, whatever the measurement is.

        They stay at their last commanded positions. Out of velocity and torque control they stay where they are: at the
        encoders, where these lie near the last accepted positions, else at those; after torques, with the deflection
        at which the servos carry the same load. Where no position is known they rest.

        Args:
            measurement: The newest one, of any type.
            accepted: The last accepted positions, [rad], shape (n,).
        """
        if self.last is not None and self.last.mode is ControlMode.POSITION:
            return self.last
        positions = self._trusted(getattr(measurement, "joint_positions", None), accepted)
        if positions is None or not np.isfinite(positions).all():
            return self.at_rest
        return self.within_limits(JointCommand(ControlMode.POSITION, self._taken_over(positions, measurement)))

    def _trusted(self, read: Any, accepted: NDArray | None) -> NDArray | None:
        """Return the encoders' positions, or the accepted ones where they are not near these, [rad], shape (n,)."""
        if not self._is_reading(read):
            return accepted
        # NaN is not near
        return read if accepted is None else np.where(np.abs(read - accepted) < _FARTHEST, read, accepted)

    def _is_reading(self, value: Any) -> TypeGuard[NDArray]:
        is_array = isinstance(value, np.ndarray) and value.dtype == np.float64
        return is_array and value.shape == self._bounds.lower.shape

    def _taken_over(self, positions: NDArray, measurement: Measurement | None) -> NDArray:
        """Return the set-points with which position servos take over at ``positions``, [rad], shape (n,).

        After torques, those in which they exert the measured torques, or the commanded ones where none are measured;
        an integral takes these over itself.
        """
        if self.last is None or self.last.mode is not ControlMode.TORQUE:
            return positions
        bounds, carried = self._bounds, self.last.values
        torques: Any = getattr(measurement, "joint_torques", None)
        if self._is_reading(torques):
            carried = np.where(np.isfinite(torques), torques, carried)
        deflection = carried.clip(-bounds.torques, bounds.torques) / bounds.stiffness
        return positions + np.where(bounds.carries, 0.0, deflection)


class TorqueRamp:
    r"""Limits the rate of the commanded torques.

    .. math:: \tau_k = \tau_{k-1} + \mathrm{clip}(\tau_k^* - \tau_{k-1}, \pm \dot\tau_{max} \Delta t)

    The first command starts from the torques of the servos that it takes over from, within the joints' limits.
    """

    def __init__(self, rate: float, limits: NDArray) -> None:
        """Take the highest rate, [N·m/s], and the torque limits of the joints, [N·m], shape (n,)."""
        self._rate, self._limits = rate, limits
        self.reset()

    def reset(self) -> None:
        """Begin again: the next command starts from the measured torques."""
        self._torques: NDArray | None = None

    def limited(self, command: JointCommand, measured_torques: NDArray, period: float) -> JointCommand:
        """Return a command of torques limited in rate over ``period`` [s]; others pass unchanged.

        Args:
            command: Of layer 3.
            measured_torques: [N·m], shape (n,); not finite where nothing measures them, and such a joint may jump once.
            period: [s].
        """
        if command.mode is not ControlMode.TORQUE:
            self._torques = None
            return command
        if self._torques is None:
            carried = np.where(np.isfinite(measured_torques), measured_torques, command.values)
            self._torques = carried.clip(-self._limits, self._limits)
        most = self._rate * period
        change = command.values - self._torques
        if change.dot(change) <= most * most or np.count_nonzero(np.abs(change) <= most) == len(change):
            self._torques = command.values
            return command
        self._torques = self._torques + change.clip(-most, most)
        return JointCommand(ControlMode.TORQUE, self._torques)


class StandInBalance:
    """Asks layer 2, and the instantaneous law in this process in each tick in which layer 2 raises an error.

    It goes on from the state of layer 2, and layer 2 from its own. Where that lasts, the robot finishes its step and
    stands: held commands would stop a foot in the air.

    Attributes:
        failures: Number of ticks in which layer 2 raised.
        findings: Violations of the last tick: the error, and that layer 2 does not do its work.
    """

    def __init__(self, config: BalanceConfig, failed_duration: float) -> None:
        """Take the configuration of layer 2 and for how long its errors are tolerated, [s]."""
        self._fallback = fallback_layer(config)
        self._failing = Debounce(failed_duration)
        self.failures = 0
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self._failing.reset()
        self._last: BalanceReference | None = None
        self._stands_in = False
        self._logged: set[str] = set()  # subjects of errors whose traceback the log has
        self.findings: list[Finding] = []

    def update(
        self, layer: BalanceLayer, state: RobotState, plan: BalancePlan, time: float, period: float
    ) -> BalanceReference:
        """Return the reference of ``layer``, else that of the fallback; see ``BalanceLayer.update``."""
        try:
            if self._stands_in:
                layer.resume(self._fallback.memory)
            self._last = layer.update(state, plan, time, period)
            self.findings = [_failing_layer_2(layer.warning)] if layer.warning else []
            if self._stands_in:
                self._stands_in = self._failing.update(False, time)
        except Exception as error:  # of a law of the user's, too
            self._last = self._without(layer, error, state, plan, time, period)
        return self._last

    def _without(
        self, layer: BalanceLayer, error: Exception, state: RobotState, plan: BalancePlan, time: float, period: float
    ) -> BalanceReference:
        self.failures += 1
        self.findings = [failed_tick(error)]
        if self.findings[0].subject not in self._logged:
            self._logged.add(self.findings[0].subject)
            log_traceback(error, self.findings[0])
        if self._failing.update(True, time):
            text = f"layer 2 fails ({self.findings[0].text}); the instantaneous law balances in its place"
            self.findings.append(_failing_layer_2(text))
        if not self._stands_in:
            self._fallback.resume(self._memory_of(layer))
            self._stands_in = True
        return self._fallback.update(state, plan, time, period)

    def _memory_of(self, layer: BalanceLayer) -> BalanceMemory | None:
        """Return the state of layer 2, or what its last reference says of it; None before the first."""
        with suppress(Exception):  # it fails
            if layer.memory is not None:
                return layer.memory
        if self._last is None:
            return None
        return BalanceMemory(
            self._last.com_position[:2], LawMemory(np.zeros(2)), GainProgress(True, 1.0, 1.0, math.inf)
        )


def _failing_layer_2(text: str) -> Finding:
    return Finding(SafetyKind.STALE_REFERENCE, "model_control", text)


class RelaxingWholeBody:
    """Relaxes feet and CoM for a while where they contradict each other and the joint limits.

    Attributes:
        failures: Number of ticks in which they did.
        contradiction: Error of the last command, with the task of the largest residual; None where all tasks are met.
        findings: That the last tick was relaxed, with its task, or that the backend of layer 3 is away.
    """

    def __init__(self, controller: WholeBodyController, relaxed_duration: float) -> None:
        self._controller = controller
        self._backed = backed_controller(controller)
        self._relaxed_duration = relaxed_duration + _ROUNDING
        self.failures = 0
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self._relaxed_time = 0.0
        self.contradiction: NoSolutionFound | None = None
        self.findings: list[Finding] = []

    def command(self, state: RobotState, body: WholeBodyReference, period: float) -> JointCommand:
        """Return the command for the coming ``period`` [s].

        Raises:
            NoSolutionFound: There has been none for too long.
        """
        self.contradiction, self.findings = None, []
        try:
            command = self._controller.command(state, body, period)
        except NoSolutionFound as error:
            self.contradiction = error
            self.failures += 1
            self._relaxed_time += period
            if self._relaxed_time > self._relaxed_duration:
                raise
            self.findings = [Finding(SafetyKind.RELAXED, error.task or "", f"relaxed, {error}")]
            return self._controller.command(state, body, period, relaxed=True)
        self._relaxed_time = 0.0
        if self._backed is not None and self._backed.warning:
            self.findings = [Finding(SafetyKind.STALE_REFERENCE, "whole_body", self._backed.warning)]
        return command
