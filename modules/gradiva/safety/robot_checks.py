"""Checks of the robot: joints, motors, feet, balance, and the age of its references."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    GRAVITY,
    ConfigError,
    Debounce,
    Measurement,
    NDArray,
    RobotPosture,
    RobotState,
    Side,
    SoleRectangle,
    VectorDebounce,
    WalkingReference,
    configuration,
    lowest_base,
    setting,
)
from gradiva.safety.events import Finding, SafetyKind

_NOTHING = 0.01  # [-] of the weight: a sensor that reads less under a foot that stands reads nothing
_LOADED = 0.05  # [-] of the weight: a sensor that read nothing and reads more than that, which noise is not, works
_CARRIED = 0.9  # [-] of the weight: while robots walk, both feet together lack less for as long as it takes to blink
_FASTEST_FALL = 0.5  # [m/s] by load that lacks: healthy walks 0.01; G1 at 0.6 m/s 0.2, in velocity control 0.4
_MOST_DIGITS = 6


@configuration
class JointCheckConfig:
    """Tolerated limits of a joint.

    Attributes:
        position_margin: Kept from the position limits; negative: tolerated beyond them, [rad].
        velocity_factor: On the velocity limits, [-].
        velocity_duration: [s].
        torque_duration: [s].
        tracking_duration: [s].
    """

    position_margin: float = setting("rad")
    velocity_factor: float = setting("-", above=0.0)
    velocity_duration: float = setting("s", least=0.0)
    torque_duration: float = setting("s", least=0.0)
    tracking_duration: float = setting("s", least=0.0)


_POSITION_DURATION = 0.1  # [s] tolerated beyond the position limits: twice as long as a landing shakes the joints
_TORQUE_FACTOR = 0.98  # [-] on the torque limits, where torques are measured
_TRACKING_MARGIN = 0.15  # [rad]
"""Between commanded and measured position, on top of what the servo yields at half its torque limit: at 1 rad/s
velocity loops like those of iCub v2.7, which lag by 0.1 to 0.2 s, are so far behind."""


@dataclass(frozen=True, slots=True, eq=False)
class JointBounds:
    """Limits of the joints of a robot.

    Attributes:
        lower: Positions, [rad], shape (n,).
        upper: Positions, [rad], shape (n,).
        velocities: [rad/s], shape (n,).
        torques: [N·m], shape (n,).
        stiffness: Of the position servos, [N·m/rad], shape (n,).
        leads: By which set-points go ahead of joints at their highest velocities, against the servos' damping, [rad],
            shape (n,).
        carries: Whether the integral of a joint's servo carries its load when it takes over from torques, shape (n,).
    """

    lower: NDArray
    upper: NDArray
    velocities: NDArray
    torques: NDArray
    stiffness: NDArray
    leads: NDArray | float = 0.0
    carries: npt.NDArray[np.bool_] | bool = False


_KINDS = (SafetyKind.JOINT_POSITION, SafetyKind.JOINT_VELOCITY, SafetyKind.JOINT_TORQUE, SafetyKind.JOINT_TRACKING)
BLOW_DURATION = 0.3
"""Time for which a joint that carries nothing may be too fast, [s]: a wrist that a blow spins is for less."""
_NOUNS = ("is at", "moves at", "has a torque of", "differs from its command by")
_UNITS = ("rad", "rad/s", "N·m", "rad")


class JointCheck:
    r"""Compares each joint with its bounds.

    With :math:`s, \dot s, \tau` as measured, :math:`s^*` as commanded one tick before, limits
    :math:`\underline s, \bar s, \bar v, \bar\tau` and the servo stiffness :math:`k`, a joint is well while

    .. math:: \underline s + m \le s \le \bar s - m, \quad |\dot s| \le f_v \bar v, \quad
        |\tau| < f_\tau \bar\tau, \quad |s - s^*| \le \bar\tau / 2 k + m_t

    A torque that is not finite counts as not measured. An arm that does not follow carries nothing, and its sensors say
    where it is: it is a kind of its own, on which the robot walks on. An arm may be too fast for `BLOW_DURATION`.
    """

    def __init__(
        self, config: JointCheckConfig, joints: Sequence[str], bounds: JointBounds, carrying: Collection[str]
    ) -> None:
        """Take the tolerated limits, the names, the bounds, and the names of the joints that carry the weight."""
        n, margin = len(joints), config.position_margin
        self._joints, self._carrying = joints, frozenset(carrying)
        speed = config.velocity_factor * bounds.velocities
        torque = np.nextafter(_TORQUE_FACTOR * bounds.torques, 0.0)  # a motor at its limit is beyond it
        tracking = 0.5 * bounds.torques / bounds.stiffness + _TRACKING_MARGIN
        self._lower = np.concatenate([bounds.lower + margin, -speed, -torque, -tracking])
        self._upper = np.concatenate([bounds.upper - margin, speed, torque, tracking])
        too_fast = np.full(n, config.velocity_duration)
        too_fast[[joint not in self._carrying for joint in joints]] = max(config.velocity_duration, BLOW_DURATION)
        others = np.repeat((_POSITION_DURATION, config.torque_duration, config.tracking_duration), n)
        self._debounce = VectorDebounce(np.concatenate([others[:n], too_fast, others[n:]]))
        self._values = np.zeros(4 * n)
        self._positions, self._velocities, self._torques, self._offsets = self._values.reshape(4, n)
        self._is_beyond = np.zeros((2, 4 * n), dtype=bool)
        self._is_below, self._is_above = self._is_beyond

    def reset(self) -> None:
        """Forget the past."""
        self._debounce.reset()

    def findings(self, measurement: Measurement, commanded_positions: NDArray, time: float) -> list[Finding]:
        """Return new violations.

        Args:
            measurement: Of this tick.
            commanded_positions: Where the joints were commanded to be by now, [rad], shape (n,).
            time: [s].
        """
        values = self._values
        self._positions[...] = measurement.joint_positions
        self._velocities[...] = measurement.joint_velocities
        self._torques[...] = measurement.joint_torques
        np.subtract(self._positions, commanded_positions, self._offsets)
        np.less(values, self._lower, self._is_below)
        np.greater(values, self._upper, self._is_above)
        if not np.count_nonzero(self._is_beyond):
            self._debounce.clear()
            return []
        return [self._finding(index) for index in self._debounce.update(self._is_below | self._is_above, time)]

    def _finding(self, index: int) -> Finding:
        part, joint = divmod(index, len(self._joints))
        value = self._values[index]
        limit = self._upper[index] if value > 0.5 * (self._lower[index] + self._upper[index]) else self._lower[index]
        unit = _UNITS[part]
        text = f"joint {self._joints[joint]} {_NOUNS[part]} {beside_limit(value, limit, 2, ' ' + unit)}"
        is_free = _KINDS[part] is SafetyKind.JOINT_TRACKING and self._joints[joint] not in self._carrying
        return Finding(SafetyKind.ARM_TRACKING if is_free else _KINDS[part], self._joints[joint], text)


@configuration
class MotorCheckConfig:
    """Temperature limits of a motor.

    Attributes:
        warn_temperature: [°C].
        stop_temperature: [°C].
    """

    warn_temperature: float = setting("°C")
    stop_temperature: float = setting("°C")

    def __post_init__(self) -> None:
        if not self.warn_temperature < self.stop_temperature:
            raise ConfigError(
                f"warn_temperature={self.warn_temperature}, must be below stop_temperature={self.stop_temperature}"
            )


_TEMPERATURE_DURATION = 1.0  # [s] tolerated: temperatures change slowly, readings err


class MotorCheck:
    """Compares the temperature of each motor with two limits; NaN is a motor that gives none."""

    def __init__(self, config: MotorCheckConfig, joints: Sequence[str]) -> None:
        self._joints = joints
        self._lowest = config.warn_temperature
        self._limits = np.repeat([config.warn_temperature, config.stop_temperature], len(joints))
        self._debounce = VectorDebounce(np.full(2 * len(joints), _TEMPERATURE_DURATION))

    def reset(self) -> None:
        """Forget the past."""
        self._debounce.reset()

    def findings(self, temperatures: NDArray | None, time: float) -> list[Finding]:
        """Return new violations; temperatures in [°C], shape (n,), or None where the robot gives none."""
        if temperatures is None or temperatures.shape != (len(self._joints),):
            return []
        if not np.count_nonzero(temperatures > self._lowest):
            self._debounce.clear()
            return []
        both = np.concatenate([temperatures, temperatures])
        lasting = self._debounce.update(both > self._limits, time)
        return [self._finding(index, both[index]) for index in lasting]

    def _finding(self, index: int, temperature: float) -> Finding:
        is_hot, joint = divmod(index, len(self._joints))
        name = self._joints[joint]
        text = f"the motor of {name} has {beside_limit(temperature, self._limits[index], 0, ' °C')}"
        return Finding(SafetyKind.MOTOR_HOT if is_hot else SafetyKind.MOTOR_WARM, name, text)


@configuration
class FootCheckConfig:
    """Tolerated loads of a standing foot.

    Attributes:
        minimum_force: Normal force, as a part of the robot's weight, [-].
        force_duration: Of a foot that stands alone, [s].
        pressure_gain_error: Of the measured distance of the centre of pressure from the sole frame, tolerated, [-].
    """

    minimum_force: float = setting("-", above=0.0, below=1.0)
    force_duration: float = setting("s", least=0.0)
    pressure_gain_error: float = setting("-", least=0.0)


_MINIMUM_LOAD = 0.5  # [-] of the weight, both feet together; at 0.75 fast walks in velocity control trip
_UNLOADED_DURATION = 0.2  # [s] of both that stand: blows unload soles for less
_EARLY_LANDING_DURATION = 0.15  # [s]
"""Of a foot that should stand alone while the other one carries the weight: with encoders off by 0.5° iCub v2.7 lands
up to 0.1 s early.
"""
_PRESSURE_MARGIN = -0.005  # [m]
"""From the edges of the sole; negative: beyond them. At the edge a foot tips, as fast walks do; cross-talk of 3 % and
drift put the centre of pressure up to 3 mm beyond; farther, the sensor is wrong.
"""
_PRESSURE_DURATION = 0.15  # [s] tolerated; healthy walks have 0.02 at 5 mm


class _StandingAlone:
    """Debounces what is wrong with the foot that stands alone; it begins anew with each foot that does.

    Attributes:
        side: Of that foot; None: both stand.
    """

    def __init__(self, force_duration: float) -> None:
        """Take for how long the foot, or both together, may carry too little, [s]."""
        self.side: Side | None = None
        self._low, self._light = Debounce(force_duration), Debounce(force_duration)
        self._early, self._tips = Debounce(_EARLY_LANDING_DURATION), Debounce(_PRESSURE_DURATION)

    def begin(self, side: Side | None) -> None:
        """Count anew where another foot stands alone than before, or none."""
        if side is not self.side:
            self.side = side
            for debounce in (self._low, self._light, self._early, self._tips):
                debounce.reset()

    def lacks_load(self, is_light: bool, time: float) -> bool:
        """Return whether both feet together have carried too little for long while one stands alone."""
        return self.side is not None and self._light.update(is_light, time)

    def carries_too_little(self, is_low: bool, is_early: bool, time: float) -> bool:
        """Return whether the foot has for long, or the other one has landed early for long."""
        is_lasting = self._low.update(is_low and not is_early, time)
        return self._early.update(is_early, time) or is_lasting

    def tips(self, is_beyond: bool, time: float) -> bool:
        """Return whether the centre of pressure has been beyond an edge for long."""
        return self._tips.update(is_beyond, time)


class FootCheck:
    r"""Checks the load and the centre of pressure of the foot that stands alone, and the load of both feet together.

    In double support one foot may carry nothing, but not both: the finding then names the foot that lacks most of the
    load that the planned ZMP gives it. A foot that should stand and reads nothing while both together lack load is
    suspected from that tick on: its sensor is not used, whether it is dead or the robot is in the air for an instant,
    until it reads more than noise, as a foot that lands does in one or two ticks.
    A sensor is dead when, while a foot that should stand reads nothing or pulls, the lacking part of the weight W would
    have made the robot fall faster than any that walks,

    .. math:: g \int \left(0.9 - \tfrac{f_l + f_r}{W}\right) dt > 0.5 \, m/s.

    Nor do both together carry less than half of the weight for long: ``force_duration`` where one foot stands alone,
    0.2 s where both stand, for a blow from below unloads them for less.

    In the axes of the sole frame, with force :math:`f` and moment :math:`\mu` about its origin and the bottom of the
    sole at height :math:`h`, the centre of pressure is

    .. math:: c = \frac{1}{f_z} [h f_x - \mu_y, \; h f_y + \mu_x]

    Once the sensor of one foot is known to be wrong, loads accuse the other one no more: nothing is left with which
    they could be compared, and a robot that goes on without a sensor loads its feet as no plan has it.

    Attributes:
        suspected: Foot whose sensor is not to be used in the next tick; None: there is none.
    """

    def __init__(self, config: FootCheckConfig, sole: SoleRectangle, weight: float) -> None:
        """Take the tolerated limits, the left sole and the robot's weight [N]."""
        self._weight = weight
        self._lowest = config.minimum_force * weight
        self._lightest = _MINIMUM_LOAD * weight
        self._height = sole.z
        gain, margin = 1.0 + config.pressure_gain_error, _PRESSURE_MARGIN
        self._corners = {side: (gain * sole.corners(side, margin)).tolist() for side in Side}
        self._load, self._alone = Debounce(_UNLOADED_DURATION), _StandingAlone(config.force_duration)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self.suspected: Side | None = None
        self._time = self._falling_speed = 0.0
        self._was_lacking = False  # under a foot that read nothing or pulled
        self._load.reset()
        self._alone.begin(None)

    def note_reading(self, load: float) -> None:
        """Trust the suspected foot again if its sensors read a ``load`` [N] that is more than noise."""
        if load > _LOADED * self._weight:
            self.suspected = None

    def findings(
        self, state: RobotState, reference: WalkingReference, untrusted: Collection[Side], time: float
    ) -> list[Finding]:
        """Return new violations by an estimated state, the wrench of a suspected foot too, and a plan, at ``time`` [s].

        No load accuses a foot while one of them is ``untrusted``.
        """
        if untrusted:
            self.reset()
            return []
        suspected = self.suspected
        left = 0.0 if suspected is Side.LEFT else state.left_foot_wrench.item(2)
        right = 0.0 if suspected is Side.RIGHT else state.right_foot_wrench.item(2)
        alone = None if reference.is_double_support else reference.stance_foot
        self._alone.begin(alone)
        found = self._lacking_load(left, right, reference, time)
        if alone is not None:
            found += self._standing_alone(state, alone, time)
        return found

    def _lacking_load(self, left: float, right: float, reference: WalkingReference, time: float) -> list[Finding]:
        is_light = left + right < self._lightest
        is_low = self._load.update(is_light, time)
        is_low |= self._alone.lacks_load(is_light, time)
        suspected = self._suspect(left, right, reference, time)
        if not is_low and self._falling_speed <= _FASTEST_FALL:
            return []
        if suspected is not None:
            text = f"the {suspected} foot reads nothing where it stands, and both carry {left + right:.0f} N together"
            return [Finding(SafetyKind.FOOT_FORCE, str(suspected), f"{text}: its sensor is dead")]
        planned_left = (1.0 - reference.right_load_fraction) * self._weight
        lacks_more = planned_left - left > self._weight - planned_left - right
        side = Side.LEFT if lacks_more else Side.RIGHT
        load = beside_limit(left + right, self._lightest, 0, " N", " together")
        if not is_low:
            load = f"{left + right:.0f} N together, the robot weighs {self._weight:.0f} N"
        text = f"both feet carry {load}: most lacks on the {side} foot, which has no ground, or its sensor is dead"
        return [Finding(SafetyKind.FOOT_FORCE, str(side), text)]

    def _suspect(self, left: float, right: float, reference: WalkingReference, time: float) -> Side | None:
        """Return the foot that reads nothing where it should stand while load lacks; of both, the one known before."""
        lacking, last = _CARRIED - (left + right) / self._weight, self.suspected
        period, self._time = time - self._time, time
        if lacking <= 0.0:  # nearly always
            self.suspected, self._falling_speed, self._was_lacking = None, 0.0, False
            return None
        loads = ((Side.LEFT, left), (Side.RIGHT, right))
        standing = [(side, load / self._weight) for side, load in loads if reference.foot(side).in_contact]
        silent = [side for side, part in standing if abs(part) < _NOTHING]
        if not silent:
            self.suspected = None
        elif len(silent) == 1:
            (self.suspected,) = silent
        is_lacking = bool(silent) or any(part < -_LOADED for _, part in standing)
        goes_on = self._was_lacking and is_lacking and self.suspected is last
        self._was_lacking = is_lacking
        self._falling_speed = self._falling_speed + period * GRAVITY * lacking if goes_on else 0.0
        return self.suspected

    def _standing_alone(self, state: RobotState, stance: Side, time: float) -> list[Finding]:
        rotation, wrench = state.foot_rotation(stance), state.foot_wrench(stance)
        force, moment = wrench.reshape(2, 3).dot(rotation).tolist()
        load = force[2]
        is_low = load < self._lowest
        found = []
        is_early = is_low and load + float(state.foot_wrench(stance.other)[2]) >= self._lightest  # the other one landed
        if self._alone.carries_too_little(is_low, is_early, time):
            text = f"the {stance} foot carries {beside_limit(load, self._lowest, 0, ' N', ' alone')}"
            found.append(Finding(SafetyKind.FOOT_FORCE, str(stance), text))
        beyond = 0.0 if is_low else self._beyond_edge(stance, force, moment)
        if self._alone.tips(beyond > 0.0, time):
            text = (
                f"the centre of pressure of the {stance} foot is {1e3 * beyond:.1f} mm beyond its limit: the foot tips"
                " about an edge, or its sensor is wrong"
            )
            found.append(Finding(SafetyKind.CENTRE_OF_PRESSURE, str(stance), text))
        return found

    def _beyond_edge(self, side: Side, force: list[float], moment: list[float]) -> float:
        """Return how far the centre of pressure is outside the allowed rectangle, 0 within, [m]."""
        (fx, fy, fz), (mx, my, _) = force, moment
        x, y = (self._height * fx - my) / fz, (self._height * fy + mx) / fz
        (x1, y0), _, (x0, y1), _ = self._corners[side]
        return max(0.0, x0 - x, x - x1, y0 - y, y - y1)


@configuration
class FallCheckConfig:
    """Limits of a robot that can still be caught.

    Attributes:
        max_tilt: Of the base against the start posture, heading aside, [rad].
        max_dcm_error: Of the DCM against its reference, [m].
        max_dcm_distance: Of the DCM from the nearer sole: a reference that step adaptation restarts where the robot is
            hides a fall, [m].
        min_base_height: As a part of that of the start posture, or of the CoM's where that is higher, [-].
    """

    max_tilt: float = setting("rad", above=0.0)
    max_dcm_error: float = setting("m", above=0.0)
    max_dcm_distance: float = setting("m", above=0.0)
    min_base_height: float = setting("-", above=0.0, below=1.0)


class FallCheck:
    """Compares the base with the start posture and the DCM with its reference."""

    def __init__(self, config: FallCheckConfig, start_posture: RobotPosture, com_height: float) -> None:
        """Take the limits, the posture and the height of the CoM [m], for a base whose frame is below it."""
        self._config = config
        self._up_in_base = start_posture.base_rotation[2].tolist()  # at the start
        self._least_cosine = math.cos(config.max_tilt) if config.max_tilt < math.pi else -math.inf
        self._lowest = lowest_base(float(start_posture.base_position[2]), config.min_base_height, com_height)

    def findings(self, state: RobotState, reference: WalkingReference) -> list[Finding]:
        """Return the limits beyond which the robot cannot be caught any more."""
        config, found = self._config, []
        (a, b, c), (up_a, up_b, up_c) = state.base_rotation[2].tolist(), self._up_in_base
        cosine = a * up_a + b * up_b + c * up_c
        if cosine < self._least_cosine:
            tilt = math.acos(max(-1.0, cosine))
            text = f"the base is tilted by {beside_limit(math.degrees(tilt), math.degrees(config.max_tilt), 0, '°')}"
            found.append(Finding(SafetyKind.TILT, "", text))
        x, y = dcm = state.dcm_position.tolist()
        error = math.dist(dcm, reference.dcm.position.tolist())
        if error > config.max_dcm_error:
            off = beside_limit(100 * error, 100 * config.max_dcm_error, 0, " cm", " off its reference")
            text = f"the DCM is {off}"
            found.append(Finding(SafetyKind.DCM_ERROR, "", text))
        left_x, left_y, _ = state.left_foot_position.tolist()
        right_x, right_y, _ = state.right_foot_position.tolist()
        distance = min(math.hypot(x - left_x, y - left_y), math.hypot(x - right_x, y - right_y))
        if distance > config.max_dcm_distance:
            away = beside_limit(100 * distance, 100 * config.max_dcm_distance, 0, " cm", " from the nearer foot")
            text = f"the DCM is {away}"
            found.append(Finding(SafetyKind.DCM_ERROR, "", text))
        height = state.base_position.item(2)
        if height < self._lowest:
            text = f"the base is {beside_limit(height, self._lowest, 2, ' m', ' above the ground')}"
            found.append(Finding(SafetyKind.BASE_HEIGHT, "", text))
        return found


@configuration
class ReferenceAgeCheckConfig:
    """Tolerated age of the planner's references.

    Attributes:
        max_age: Of a reference, [s].
    """

    max_age: float = setting("s", above=0.0)


class ReferenceAgeCheck:
    """Compares the time of the references with the clock; a planner in the same process is never late."""

    def __init__(self, config: ReferenceAgeCheckConfig) -> None:
        self._max_age = config.max_age
        self._debounce = Debounce(0.0)

    def reset(self) -> None:
        """Forget the past."""
        self._debounce.reset()

    def findings(self, reference: WalkingReference, time: float) -> list[Finding]:
        """Return a finding where the reference is too old at ``time`` [s]."""
        age = time - reference.time
        if not self._debounce.update(age > self._max_age, time):
            return []
        swinging = [str(side) for side in Side if not reference.foot(side).in_contact]
        phase = f"while the {swinging[0]} foot swings" if swinging else "in double support"
        text = f"the references stopped {beside_limit(age, self._max_age, 2, ' s', f' ago {phase}')}"
        return [Finding(SafetyKind.STALE_REFERENCE, "", text)]


def beside_limit(value: float, limit: float, digits: int, unit: str, where: str = "") -> str:
    """Return a value and the limit that it has passed, with as many more digits as it takes to tell them apart."""
    while digits < _MOST_DIGITS and f"{value:.{digits}f}" == f"{limit:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}{unit}{where}, the limit is {limit:.{digits}f}{unit}"
