r"""Stability margins of the loop through the foot wrenches, for the gains of a setup.

The characteristic loci are the eigenvalues of :math:`L(e^{j \omega \Delta})` of ``WrenchLoop``, from 5 Hz, below which
a robot that balances has its own dynamics, to half the rate of the ticks. Feedback is positive, the critical point +1:

gain margin
    the inverse of the largest value at which a locus crosses the positive real axis;
phase margin
    the smallest angle to that axis where a locus crosses the unit circle;
:math:`M_s`
    :math:`1 / \min |1 - \lambda|`, by how much disturbances are amplified at most.

One locus more is that of the DCM law alone (``WrenchLoop.of_law``): where it is unstable the others, which take it to
be stable, say nothing.

Of both feet they are those of feet that have stood for 0.25 s: before, the ZMP of old wrenches lags less.

The same loop, cut elsewhere, is that of balance itself, to which soft floors set a limit (``soft_floors.py``).

A loop with margins still passes on what its sensors add. With the closed loop's gains :math:`H_i` from the noises
:math:`n_i` of all readings, white from tick to tick but for the tilt, and the gain G of the filter of ``chatter.py``

.. math:: \sigma^2 = 2 \Delta \int_0^{1 / 2 \Delta} G^2 \sum_i |H_i(e^{j \omega \Delta})|^2 \sigma_i^2 \, df

is the chatter that noise alone makes of a robot that stands (``noise_response``).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import GRAVITY, ConfigError, ControlMode, ModelError, NDArray, Side, WalkingError
from gradiva.common.errors import FAIL, OK, WARN, Finding
from gradiva.estimation import STRIDE_OVER, BaseSource
from gradiva.setup import soft_floors, standing_plant, wrench_loop
from gradiva.setup.changed_keys import changed_keys, setting_in_words, shipped_values
from gradiva.setup.compiler import print_line
from gradiva.setup.load_setup import Setup, load_setup
from gradiva.setup.robots import cache_folder
from gradiva.setup.soft_floors import (
    CONTACT_TIMES,
    HIGHEST,
    SOFT_FLOOR,
    balance_peak,
    floor_time,
    in_ms,
    is_too_soft,
    known_floor_time,
    soft_floor_note,
    stands_softly,
    stiffer_floor,
)
from gradiva.setup.standing_plant import CHANNELS, Complex, Plant, StandingBody
from gradiva.setup.wrench_loop import WrenchLoop
from gradiva.walking import Chatter, WalkingConfig, high_pass_gains

GAIN_MARGIN, PHASE_MARGIN = 6.0, 30.0  # [dB], [°]: a factor of two, and what is usual beside it
PEAK = 2.0  # [-] such a locus has M_s / (M_s - 1), 6 dB, and 2 asin(1 / (2 M_s)), 29°, also between both axes
SITUATION = f"one foot or both for {STRIDE_OVER:g} s"  # of the margins
_WANTED = f"{GAIN_MARGIN:g} dB, {PHASE_MARGIN:g}° and M_s of at most {PEAK:g}"
_FREQUENCIES = 31  # of a locus: steps of 1.5 Hz at ticks of 10 ms
_NO_MARGIN = 200.0  # [dB] of a locus that never comes near the critical point
_MOVES, _MOST_CHANGED = 1.0, 6  # [dB] by which a changed key moves the margin; keys that are looked at
_LOOP_TABLES = (
    "zmp_com_controller.",
    "foot_admittance.",
    "dcm_controller.",
    "state_estimator.",
    "inverse_kinematics.",
    "servo_feedforward.",
    "simulation.servo.",
    "simulation.transport.",
    "simulation.sensors.joints.",
    "simulation.sensors.wrenches.",
)  # whose keys stand in the loop; others have their part by the posture and the plant
_HALVINGS = 7  # of a gain: to 1 or 2 %
_MODELLED = ("dcm", "dcm_mpc")  # laws of layer 2, near their references the instantaneous one
_FEET = {"double support": (Side.LEFT, Side.RIGHT), "single support": (Side.LEFT,)}
_GAINS = {
    "zmp_com_controller.walking.zmp": lambda config, factor: _scaled_zmp(config, "walking", factor),
    "zmp_com_controller.standing.zmp": lambda config, factor: _scaled_zmp(config, "standing", factor),
    "foot_admittance.height_gain": lambda config, factor: _scaled_admittance(config, "height_gain", factor),
    "foot_admittance.spread_gain": lambda config, factor: _scaled_admittance(config, "spread_gain", factor),
    "foot_admittance.tilt_gain": lambda config, factor: _scaled_admittance(config, "tilt_gain", factor),
}


@dataclass(frozen=True, slots=True)
class Margins:
    """Margins of one loop.

    Attributes:
        gain_db: Gain margin, [dB].
        phase_deg: Phase margin, [°]; 180 where no locus leaves the unit circle.
        peak: M_s, [-].
        frequency: Of the gain margin, [Hz].
    """

    gain_db: float
    phase_deg: float
    peak: float
    frequency: float

    @property
    def is_wide(self) -> bool:
        """Whether all three are as they should be."""
        return self.gain_db >= GAIN_MARGIN and self.phase_deg >= PHASE_MARGIN and self.peak <= PEAK

    @classmethod
    def of(cls, loop: WrenchLoop) -> Margins:
        """Return those of a loop."""
        frequencies = np.linspace(HIGHEST, 0.5 / loop.period, _FREQUENCIES)
        points = [complex(np.exp(2j * np.pi * f * loop.period)) for f in frequencies]
        loci = np.column_stack((_loci([loop.gain(z) for z in points]), [loop.of_law(z) for z in points]))
        largest, where = max(_crossings(loci, frequencies), default=(0.0, 0.0))
        gain = -20.0 * math.log10(largest) if largest > 0.0 else _NO_MARGIN
        peak = 1.0 / float(np.abs(1.0 - loci).min())
        return cls(gain, min(_angles(loci), default=180.0), peak, where)


def _loci(gains: Sequence[Complex]) -> Complex:
    """Return the eigenvalues, each column one that goes on continuously, shape (frequencies, channels)."""
    from scipy.optimize import linear_sum_assignment  # which takes long to import, and few load a robot for margins

    rows = [np.linalg.eigvals(gains[0])]
    for gain in gains[1:]:
        values = np.linalg.eigvals(gain)
        _, order = linear_sum_assignment(np.abs(rows[-1][:, None] - values))
        rows.append(values[order])
    return np.array(rows)


def _crossings(loci: Complex, frequencies: np.ndarray) -> Iterator[tuple[float, float]]:
    """Yield value and frequency of each crossing of the positive real axis; at half the rate of the ticks L is real."""
    for locus in loci.T:
        for first, second, low, high in zip(locus, locus[1:], frequencies, frequencies[1:], strict=False):
            if first.imag * second.imag < 0.0:
                ratio = first.imag / (first.imag - second.imag)
                yield float(first.real + ratio * (second.real - first.real)), float(low + ratio * (high - low))
        if abs(locus[-1].imag) < 1e-6:
            yield float(locus[-1].real), float(frequencies[-1])


def _angles(loci: Complex) -> Iterator[float]:
    """Yield the angle to the positive real axis of each crossing of the unit circle, [°]."""
    for locus in loci.T:
        for first, second in pairwise(locus):
            before, after = abs(first) - 1.0, abs(second) - 1.0
            if before * after < 0.0:
                crossed = first + before / (before - after) * (second - first)
                yield abs(math.degrees(np.angle(crossed)))


@dataclass(frozen=True, slots=True)
class StabilityMargins:
    """Margins of a setup: the least over both supports, gains of standing and walking, and floors from hard to soft.

    Attributes:
        margins: The least ones.
        case: Support, gains and floor that have the least gain margin.
        balance_peak: M_s of balance on one foot on a soft floor; infinite where it is unstable, NaN where the robot has
            no posture on one foot, and by velocity control, [-].
        largest_com_gain: Largest K_CoM of walking with which that M_s is 2 where it is more; zero where none is, [1/s].
        gain: Key of the gain that takes most of the margin; empty where the margins are wide or all gains zero. With
            a ``zmp`` its ``com`` is scaled as well.
        value: Present value of that gain.
        largest: Largest value of that gain with wide margins; NaN where no value of it alone has them.
        balance_floor: Time constant of that soft floor: 28 ms, or of the simulated one where that is softer, [s].
    """

    margins: Margins
    case: str
    balance_peak: float
    largest_com_gain: float = math.nan
    gain: str = ""
    value: float = math.nan
    largest: float = math.nan
    balance_floor: float = SOFT_FLOOR

    @property
    def is_stable(self) -> bool:
        """Whether the loop is stable at all."""
        return self.margins.gain_db > 0.0

    @property
    def figures(self) -> str:
        """The three margins, as wide in each line of a list, with the case of the gain margin where they are small."""
        margins = self.margins
        gain = f"gain margin {margins.gain_db:5.1f} dB at {margins.frequency:2.0f} Hz"
        case = "" if margins.is_wide else f" ({self.case})"
        return f"{gain}{case}, phase margin {margins.phase_deg:3.0f}°, M_s {margins.peak:3.1f}"

    @property
    def text(self) -> str:
        """One line on the loop, its margins, and those that it should have."""
        figures = " ".join(self.figures.split())
        balance = self.balance_text if self.balance_peak > PEAK else ""
        return f"wrench loop (foot wrenches, ZMP–CoM law, joints): {figures}; {_WANTED} are wanted{balance}"

    @property
    def balance_text(self) -> str:
        """M_s of balance behind a semicolon, with the largest K_CoM where that is less; empty where it is not known."""
        if math.isnan(self.balance_peak):
            return ""
        found = f"M_s {self.balance_peak:.1f}" if math.isfinite(self.balance_peak) else "unstable"
        largest = (
            f"K_CoM up to {self.largest_com_gain:.1f} 1/s"
            if self.largest_com_gain
            else "more than 2 with lower K_CoM too"
        )
        gain = f" ({largest})" if self.balance_peak > PEAK else ""
        return f"; balance on one foot on a floor of {in_ms(self.balance_floor)}: {found}{gain}"

    @property
    def balance_advice(self) -> str:
        """M_s of balance as a warning on a floor that is soft, with the key to lower."""
        found = f"M_s is {self.balance_peak:.1f}" if math.isfinite(self.balance_peak) else "it is unstable"
        floor = f"balance on one foot on this soft floor ({in_ms(self.balance_floor)})"
        return f"{floor}: {found}, at most {PEAK:g} is wanted; {self._balance_change}"

    @property
    def _balance_change(self) -> str:
        key, largest = "zmp_com_controller.walking.com", self.largest_com_gain
        return f"lower {key} to {largest:.1f}" if largest else f"no value of {key} has that"

    @property
    def balance_in_words(self) -> str:
        """M_s of balance on the soft floor, and the key to lower where it is too large; empty where it is not known."""
        if math.isnan(self.balance_peak):
            return ""
        is_stable = math.isfinite(self.balance_peak)
        found = f"has an M_s of {self.balance_peak:.1f} there (" if is_stable else "is unstable there (M_s of "
        change = f", {self._balance_change}" if self.balance_peak > PEAK else ""
        return f"balance on one foot {found}at most {PEAK:g} is wanted){change}"

    @property
    def advice(self) -> str:
        """Name the gain to lower; empty where the margins are wide."""
        if not self.gain:
            return ""
        if math.isnan(self.largest):
            return f"{self.gain} = {self.value:g} takes most of it, but no value of it alone has {_WANTED}"
        beside = ", com in proportion" if self.gain.endswith(".zmp") else ""
        return f"lower {self.gain} from {self.value:g} to {self.largest:.3g}{beside}"

    def finding(self) -> Finding:
        """Return the verdict: loops without margin fail. M_s of balance has none: few floors are so soft."""
        verdict = OK if self.margins.is_wide else WARN if self.is_stable else FAIL
        return Finding(verdict, self.text, self.advice)


class _Analysis:
    """Computes the margins of one setup; plants are kept while gains are varied."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    @cached_property
    def _plants(self) -> list[tuple[str, float, Plant]]:
        both = StandingBody(self._setup, _FEET["double support"])
        found = [("double support", time, Plant(both, time)) for time in CONTACT_TIMES]
        with suppress(ModelError):  # a robot that stands on both feet need not reach a posture on one
            one = StandingBody(self._setup, _FEET["single support"])
            found.append(("single support", CONTACT_TIMES[0], Plant(one, CONTACT_TIMES[0])))
        return found

    def result(self) -> StabilityMargins:
        """Return the margins, with the gain to lower where they are not wide."""
        config = self._setup.walking
        margins, case = self._least(config)
        floor = max(SOFT_FLOOR, floor_time(self._setup))
        result = StabilityMargins(margins, case, *self._balance(config, floor), balance_floor=floor)
        if margins.is_wide:
            return result
        gain, value = self._most_effective(config)
        if not gain:
            return result
        return replace(result, gain=gain, value=value, largest=value * self._largest_factor(config, gain))

    def _least(self, config: WalkingConfig) -> tuple[Margins, str]:
        """Return the least margins and the case with the least gain margin."""
        cases = dict(self._cases(config))
        worst = min(cases, key=lambda text: cases[text].gain_db)
        every = cases.values()
        least = replace(cases[worst], phase_deg=min(m.phase_deg for m in every), peak=max(m.peak for m in every))
        return least, worst

    def _cases(self, config: WalkingConfig) -> Iterator[tuple[str, Margins]]:
        """Yield each case with its margins, which are computed when they are asked for."""
        gains = config.zmp_com_controller
        for support, time, plant in self._plants:
            for name, pair in (("walking", gains.walking), ("standing", gains.standing)):
                if support == "single support" and name == "standing":
                    continue
                text = f"{support}, gains of {name}, {1e3 * time:.0f} ms floor"
                yield text, Margins.of(WrenchLoop(plant, config, pair))

    def _most_effective(self, config: WalkingConfig) -> tuple[str, float]:
        """Return key and value of the gain that widens the gain margin most when it is halved."""
        best = ("", math.nan, -math.inf)
        for key, scaled in _GAINS.items():
            value = _value(config, key)
            if value > 0.0:
                margin = self._gain_margin(scaled(config, 0.5), best[2])
                best = max(best, (key, value, margin), key=lambda item: item[2])
        return best[:2]

    def _gain_margin(self, config: WalkingConfig, enough: float) -> float:
        """Return the least gain margin; any of at most ``enough`` where it is no more than that."""
        margin = math.inf
        for _, margins in self._cases(config):
            margin = min(margin, margins.gain_db)
            if margin <= enough:
                break
        return margin

    def _largest_factor(self, config: WalkingConfig, gain: str) -> float:
        scaled: Callable[[WalkingConfig, float], WalkingConfig] = _GAINS[gain]

        def is_wide(factor: float) -> bool:
            """Return whether all cases are, up to the first that is not."""
            return all(margins.is_wide for _, margins in self._cases(scaled(config, factor)))

        found = _largest(is_wide, 0.05, 1.0)
        return found or math.nan

    def _balance(self, config: WalkingConfig, time: float) -> tuple[float, float]:
        """Return ``balance_peak`` and ``largest_com_gain`` of ``StabilityMargins`` on a floor of a ``time`` [s]."""
        support, _, plant = self._plants[-1]
        if support != "single support" or config.walking.control is not ControlMode.POSITION:
            return math.nan, math.nan
        gains, floor = config.zmp_com_controller.walking, Plant(plant.body, time)

        def peak(com: float) -> float:
            """Return M_s, [-], with this K_CoM of walking."""
            return balance_peak(WrenchLoop(floor, config, replace(gains, com=com)))

        found = peak(gains.com)
        if found <= PEAK:
            return found, math.nan
        return found, _largest(lambda com: peak(com) <= PEAK, 0.05 * gains.com, gains.com)


def _largest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest value between two for which something holds; zero where it does not for the lower one."""
    if not holds(low):
        return 0.0
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _scaled_zmp(config: WalkingConfig, situation: str, factor: float) -> WalkingConfig:
    gains = getattr(config.zmp_com_controller, situation)
    changed = {situation: replace(gains, zmp=factor * gains.zmp, com=factor * gains.com)}
    return replace(config, zmp_com_controller=replace(config.zmp_com_controller, **changed))


def _scaled_admittance(config: WalkingConfig, name: str, factor: float) -> WalkingConfig:
    admittance = config.foot_admittance
    return replace(config, foot_admittance=replace(admittance, **{name: factor * getattr(admittance, name)}))


def _value(config: WalkingConfig, key: str) -> float:
    value: object = config
    for name in key.split("."):
        value = getattr(value, name)
    return float(value)  # type: ignore[arg-type]


def has_wrench_loop(setup: Setup) -> bool:
    """Return whether the margins of a setup are modelled: torque control has no loop through measured wrenches."""
    walking = setup.walking.walking
    return walking.control is not ControlMode.TORQUE and walking.model in _MODELLED


def stability_margins(setup: Setup) -> StabilityMargins:
    """Return the margins of a setup that ``has_wrench_loop``; computed once, then read from the cache.

    Raises:
        ModelError: The robot's model lacks something, or it cannot stand as it should.
    """
    path = cache_folder() / f"margins-{_digest(setup)}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        return StabilityMargins(**{**kept, "margins": Margins(**kept["margins"])})
    result = _Analysis(setup).result()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(asdict(result)), encoding="utf-8")
        os.replace(unfinished, path)
    return result


def check_margins(setup: Setup, announce: Callable[[str], None] = print_line) -> str:
    """Return a warning about margins that are too small, or a floor that is too soft; empty where there is none.

    A plant with dry friction is not refused: the friction, which this linear model lacks, holds small oscillations.

    Args:
        setup: Of the robot.
        announce: Called with one line before the margins without changed keys are computed, which takes seconds; by
            default the line goes to standard error.

    Raises:
        ConfigError: The robot would oscillate: the gain margin is zero or less, and there is no dry friction.
    """
    margins, unknown = known_margins(setup)
    narrow = "" if margins is None or margins.margins.is_wide else _narrow_margins(setup, margins, announce)
    return "; ".join(filter(None, (unknown, narrow, soft_floor_warning(setup, margins))))


def known_margins(setup: Setup) -> tuple[StabilityMargins | None, str]:
    """Return the margins, and why they are not known, if so; None without a word where no loop has any."""
    if not has_wrench_loop(setup):
        return None, ""
    try:
        return stability_margins(setup), ""
    except (ModelError, np.linalg.LinAlgError) as error:
        return None, f"stability margins are not known: {error}"


def _narrow_margins(setup: Setup, margins: StabilityMargins, announce: Callable[[str], None]) -> str:
    """Return a warning about margins that are not wide, with the key that takes most of them."""
    key, advice = _keys_to_blame(setup, margins, announce)
    text = f"{margins.text}; {advice}"
    if margins.is_stable:
        return f"little stability margin: {setup.with_files(text)}"
    if setup.simulation.friction.coulomb:
        return f"no stability margin, but dry friction, which the model lacks, may hold it: {setup.with_files(text)}"
    raise ConfigError(f"the robot would oscillate: {text}", [key])


def soft_floor_warning(setup: Setup, margins: StabilityMargins | None) -> str:
    """Return a warning about a simulated floor on which M_s of balance is too large, or that no gains are made for."""
    if is_too_soft(setup):
        balance = "" if margins is None else margins.balance_in_words
        what = f"the robot may slide, tip or fall: {stiffer_floor(setup)}"
        if margins is not None and margins.largest_com_gain:
            balance = setup.with_files(balance)
        return "; ".join(filter(None, (soft_floor_note(setup), balance, setup.with_files(what))))
    if margins is None or not margins.margins.is_wide or not stands_softly(setup) or margins.balance_peak <= PEAK:
        return ""
    return f"little stability margin: {setup.with_files(margins.balance_advice)}"


def _keys_to_blame(setup: Setup, found: StabilityMargins, announce: Callable[[str], None]) -> tuple[str, str]:
    """Return the key that takes most of the margin and advice: one that is not as shipped before a shipped gain."""
    changed, shipped = changed_keys(setup), shipped_values(setup)
    if found.gain in changed or not changed:
        return found.gain, found.advice
    suspects = sorted(changed, key=lambda key: not key.startswith(_LOOP_TABLES))[:_MOST_CHANGED]
    announce(f"little stability margin: looking which takes it of {', '.join(suspects)} (some seconds each)")
    without = {key: _margins_without(setup, changed, key) for key in suspects}
    key, margins = max(without.items(), key=lambda item: (item[1].is_wide, item[1].gain_db))
    if not margins.is_wide and margins.gain_db < found.margins.gain_db + _MOVES:
        return found.gain, found.advice
    words = setting_in_words(key, changed[key], shipped.get(key))
    figures = f"{margins.gain_db:.1f} dB, {margins.phase_deg:.0f}° and M_s {margins.peak:.1f}"
    return key, f"{words} takes most of it: with the shipped value the margins are {figures}"


def _margins_without(setup: Setup, changed: Mapping[str, Any], key: str) -> Margins:
    """Return the margins with one key as shipped; of what cannot be analysed, none."""
    others = {name: value for name, value in changed.items() if name != key}
    with suppress(WalkingError, np.linalg.LinAlgError):
        return stability_margins(load_setup(setup.robot_argument, others, plant=setup.plant)).margins
    return Margins(-math.inf, 0.0, math.inf, math.nan)


# -- chatter of noise --------------------------------------------------------------------------------------------------

_BINS = 40  # of frequencies, up to half the rate of the ticks
_AUDIBLE = 0.02  # [-] gain of the filter below which a bin is left out
_TILT = "tilt of the IMU"  # whose noise is none from tick to tick
_KEPT = 8  # setups of which the response is kept


@dataclass(frozen=True, slots=True)
class NoiseResponse:
    """Chatter that noise of the sensors makes of a robot that stands on both feet.

    Attributes:
        chatter: Root mean squares above 25 Hz, expected.
        source: Sensors whose noise makes most of the foot force.
    """

    chatter: Chatter
    source: str


def noise_response(setup: Setup) -> NoiseResponse | None:
    """Return what noise alone makes with the gains of walking or of standing, whichever is more.

    None where the sensors have no noise, the loop is not modelled or on its limit, the posture is not found, and with
    dry friction, which holds small motions and is not in the model. Those of the last setups are kept: each walk of a
    campaign asks for it.
    """
    if not has_wrench_loop(setup) or setup.simulation.friction.coulomb:
        return None
    digest = _digest(setup)
    if digest not in _noise_responses:
        if len(_noise_responses) >= _KEPT:  # the oldest goes: each setup of a campaign may have gains of its own
            del _noise_responses[next(iter(_noise_responses))]
        _noise_responses[digest] = _noise_response(setup)
    return _noise_responses[digest]


_noise_responses: dict[str, NoiseResponse | None] = {}


def _noise_response(setup: Setup) -> NoiseResponse | None:
    try:
        body = StandingBody(setup, _FEET["double support"])
        noises = _noises(setup, body)
        if not any(noise.any() for noise in noises.values()):
            return None
        plant = Plant(body, known_floor_time(setup))
        gains = setup.walking.zmp_com_controller
        loops = (WrenchLoop(plant, setup.walking, pair) for pair in (gains.walking, gains.standing))
        return max((_response_of(loop, noises, setup) for loop in loops), key=lambda found: found.chatter.foot_force)
    except (ModelError, np.linalg.LinAlgError):
        return None


def _noises(setup: Setup, body: StandingBody) -> dict[str, NDArray]:
    """Return the standard deviation of each sensor's noise in all that the controller reads."""
    sensors, estimator = setup.simulation.sensors, setup.walking.state_estimator
    channels, size = len(CHANNELS) * len(body.sides), body.size
    turn, joints = channels + 3, channels + 6  # of the base, from the IMU; behind them
    has_imu = float(estimator.base == BaseSource.ODOMETRY and estimator.use_imu)
    encoders, forces, inertial = sensors.encoders, sensors.force_torque, sensors.inertial
    motion = _rms(encoders.velocity_noise, encoders.velocity_resolution)
    count = len(setup.robot.sensors_of(body.sides[0]))  # in a foot, whose wrench is their sum
    wrench = math.sqrt(count) * np.repeat([forces.force_noise, forces.torque_noise], [3, 2])
    placed = {
        "force-torque sensors": (0, np.tile(wrench, len(body.sides))),
        "encoders": (joints, _rms(encoders.encoder_noise, encoders.encoder_resolution) * np.ones(size - 6)),
        "joint velocities": (joints + size, motion * np.ones(size - 6)),
        "gyroscope": (turn + size, has_imu * math.hypot(inertial.gyro_noise, sensors.gyro_deviation) * np.ones(3)),
        _TILT: (turn, has_imu * inertial.tilt_noise * np.ones(2)),
    }
    noises = {name: np.zeros(channels + 2 * size) for name in placed}
    for name, (begin, deviations) in placed.items():
        noises[name][begin : begin + len(deviations)] = deviations
    return noises


def _rms(noise: float, resolution: float) -> float:
    return math.hypot(noise, resolution / math.sqrt(12.0))


def _response_of(loop: WrenchLoop, noises: dict[str, NDArray], setup: Setup) -> NoiseResponse:
    """Return what all noises make, as independent ones."""
    frequencies: NDArray = np.linspace(0.0, 0.5 / loop.period, 2 * _BINS + 1)[1::2]  # middles of the bins
    stays = math.exp(-loop.period / max(setup.simulation.sensors.inertial.tilt_correlation_time, 1e-9))
    channels = 2 + 2 + len(setup.robot.joints)  # those of `Chatter.of`
    squares = {name: np.zeros(channels) for name in noises}
    for frequency, gain in zip(frequencies, high_pass_gains(frequencies, loop.period), strict=True):
        if gain < _AUDIBLE:
            continue
        z = complex(np.exp(2j * np.pi * frequency * loop.period))
        wrenches, zmp, commands = loop.noise_gains(z)
        powers = np.abs(np.vstack((wrenches[2 :: len(CHANNELS)], zmp, commands))) ** 2
        for name, noise in noises.items():
            colour = (1.0 - stays**2) / abs(1.0 - stays / z) ** 2 if name == _TILT else 1.0
            squares[name] += gain**2 / _BINS * colour * (powers @ noise**2)
    total: NDArray = np.sum(list(squares.values()), axis=0)
    chatter = Chatter.of(total, setup.robot.mass * GRAVITY)
    return NoiseResponse(chatter, max(squares, key=lambda name: float(squares[name][:2].max())))


def _digest(setup: Setup) -> str:
    """Return a name for all that the margins follow from: robot, model, gains, plant, and this code."""
    model = setup.robot.model_path.stat()
    simulation = replace(setup.simulation, pushes=(), faults=())
    rooms = soft_floors, standing_plant, wrench_loop
    code = [Path(file).read_bytes() for file in (__file__, *(str(each.__file__) for each in rooms))]
    said = repr((setup.robot, setup.walking, simulation, model.st_mtime_ns, model.st_size)).encode()
    return hashlib.sha256(b"".join([said, *code])).hexdigest()[:24]
