"""Soles: standing ones yield to the ground; while a push is caught, those in the air are kept level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as cs
import numpy as np

from gradiva.common import (
    FootReference,
    NDArray,
    RobotState,
    Side,
    SoleRectangle,
    WalkingReference,
    altered,
    configuration,
    low_pass_gain,
    sealed,
    setting,
    so3,
)
from gradiva.push_recovery.step_adapter import StepAdaptationConfig
from gradiva.robot_model import Compiler, FlatFunction, built_once, interpreted, symbolic_exp
from gradiva.whole_body import WholeBodyReference

_NORMAL = 2  # row of the vertical force in a wrench
_AIRBORNE_LOAD = 0.05  # [-] of the weight: soles that carry less keep their height and tilt while the robot tilts
HEIGHT_GAIN = 1.0  # [-] k_P; both gains are worth a tenth of the largest pushes of iCub v2.7
INTEGRAL_GAIN = 10.0  # [1/s] k_I
TILT_GAIN = 20.0  # [1/s] of a tipped sole with load; 0: a robot pushed sideways rocks and falls on the other side
LEAK_TIME = 0.5  # [s] in which a sole that stands gives its offset back
LARGEST_HEIGHT_OFFSET = 0.06  # [m] offset of a sole that hangs in the air beside a robot that has tipped by 20°
LARGEST_TILT_OFFSET = 0.35  # [rad] offset of its tilt about each axis, likewise
SOLE_SPEED = 0.15  # [m/s] of that height: where load changes sides it jumps, and at 0.3 m/s knees shake
_LARGEST_OFFSET = np.array((LARGEST_TILT_OFFSET, LARGEST_TILT_OFFSET, LARGEST_HEIGHT_OFFSET))
_NEGLIGIBLE = 1e-5  # [m, rad] offset of a sole


@dataclass(frozen=True, slots=True)
class Push:
    """State of a push in one tick.

    Attributes:
        is_caught: Whether a step that catches it is under way, or the one after it, or the robot recovers standing.
        stands: Whether the robot stands.
        is_trusted: Whether the force sensors of both feet are.
    """

    is_caught: bool
    stands: bool
    is_trusted: bool


class Soles:
    """Soles that stay as the plan and layer 2 have them: torque control feeds the poses of the feet back itself.

    Attributes:
        are_planned: Whether they do; others are asked in each tick.
    """

    are_planned: bool = True

    def reset(self) -> None:
        """Forget the past: both soles are as planned."""

    def moved(
        self, body: WholeBodyReference, state: RobotState, ahead: WalkingReference, push: Push, period: float
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the soles as they are moved, by the plan ``ahead`` at its time."""
        return body


class MovedSoles(Soles):
    """Soles that yield to the ground and, while a push is caught, are kept level."""

    are_planned = False

    def __init__(self, admittance: FootAdmittance, levelling: SoleLevelling) -> None:
        """Take both laws."""
        self.admittance, self.levelling = admittance, levelling

    def reset(self) -> None:
        """Forget the past; see ``Soles``."""
        self.admittance.reset()
        self.levelling.reset()

    def moved(
        self, body: WholeBodyReference, state: RobotState, ahead: WalkingReference, push: Push, period: float
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the soles as they are moved; see ``Soles``."""
        body = self.admittance.adapted(body, state, period, push.is_trusted)
        if not push.is_caught and not self.levelling.offsets:
            return body
        levels = push.is_caught and push.is_trusted  # a sensor that reads no load makes a stance sole one in the air
        landed = None if push.stands else landed_last(ahead)
        return self.levelling.levelled(body, state, levels, push.stands and levels, period, landed)


@configuration
class FootAdmittanceConfig:
    """Gains with which feet that stand yield to forces that were not expected.

    Attributes:
        height_gain: Speed of one foot against the other for each newton that it carries too much, [m/(s·N)].
        tilt_gain: Angular velocity of a sole for each moment about its expected centre of pressure, [rad/(s·N·m)].
        spread_gain: Speed of one foot away from the other for each newton by which they pull together, [m/(s·N)].
        leak_time_constant: In which what has been yielded is taken back while both feet stand, [s].
        expected_time_constant: Of the low pass on the expected wrenches: measured ones are as much older, [s].
        surplus_time_constant: Of the low pass on measured less expected wrenches: what is faster answers the
            servos, and closes a loop with them, [s].
        highest: Largest height of a sole over its plan, [m].
        widest: Largest way of a sole along the line between both, [m].
        steepest: Largest tilt of a sole about each axis, [rad].
    """

    height_gain: float = setting("m/(s·N)", least=0.0)
    tilt_gain: float = setting("rad/(s·N·m)", least=0.0)
    spread_gain: float = setting("m/(s·N)", least=0.0)
    leak_time_constant: float = setting("s", above=0.0)
    expected_time_constant: float = setting("s", least=0.0)
    surplus_time_constant: float = setting("s", least=0.0)
    highest: float = setting("m", least=0.0)
    widest: float = setting("m", least=0.0)
    steepest: float = setting("rad", least=0.0)


class FootAdmittance:
    r"""Control of the difference of the feet's forces and of the moments about their centres of pressure.

    Legs of stiff servos, with both soles on the floor, are a closed chain: encoder errors of half a degree or a sole
    that is not flat shift all load to one foot, or to an edge, and let the feet pull against each other as hard as
    hips can. Feet that stand therefore yield (Kajita et al. 2010, Caron et al. 2019), while both of them stand:

    .. math::
        \dot h &= \tfrac12 a_h F \left[(f_l - f_r) - (f_l - f_r)^e\right] - h / T, &
        z_{l,r} &= z^p_{l,r} \pm h, \\
        \dot s &= \tfrac12 a_s F \left[(t_l - t_r) - (t_l - t_r)^e\right] - s / T, &
        p_{l,r} &= p^p_{l,r} \pm s e, \\
        \dot\theta_k &= a_\theta F \left(\mu_k - c^e_k \times f_k\right)_{x,y} - \theta_k / T, &
        R_k &= R^p_k \, Exp(\theta_k),

    with a low pass F, normal forces :math:`f`, forces :math:`t` along the horizontal line e from the right sole to the
    left one, moments :math:`\mu_k` about the sole's origin and the expected centres of pressure :math:`c^e_k` of the
    plan and the DCM law. The offsets are kept while one foot swings, since what causes them goes along with the joints:
    the next step lands as the last one ended. F begins anew as both stand.

    ====================  ==========================  ============
    Symbol                Field                       Unit
    ====================  ==========================  ============
    :math:`a_h`           ``height_gain``             m/(s·N)
    :math:`a_s`           ``spread_gain``             m/(s·N)
    :math:`a_\theta`      ``tilt_gain``               rad/(s·N·m)
    :math:`T`             ``leak_time_constant``      s
    ====================  ==========================  ============
    """

    def __init__(self, config: FootAdmittanceConfig, compiler: Compiler = interpreted) -> None:
        """Take the gains; ``compiler`` makes the equations fast."""
        self._config = config
        self._is_off = config.height_gain == config.tilt_gain == config.spread_gain == 0.0
        self._function = built_once((FootAdmittance, compiler), lambda: _admittance(compiler))
        self._function.set(**{name: getattr(config, name) for name in _CONSTANTS})
        inputs = self._function.inputs
        self._memory = inputs["memory"]
        rows = [row for name in ("expected", "measured", "positions") for row in inputs[name]]
        left, right = inputs["rotations"][:3], inputs["rotations"][3:]
        self._windows = [*rows, left, right, *inputs["twists"]]  # left, right of each
        self.reset()

    @property
    def height(self) -> float:
        """Height of the left sole over its plan, and of the right one below it, [m]."""
        return float(self._memory[0])

    @property
    def tilts(self) -> NDArray:
        """Turns of both soles about their x and y, [rad], shape (2, 2)."""
        return self._memory[2:6].reshape(2, 2).copy()

    def reset(self) -> None:
        """Forget the past: both soles are as planned."""
        self._memory[...] = 0.0
        self._is_first = True

    def adapted(
        self, reference: WholeBodyReference, state: RobotState, period: float, is_trusted: bool = True
    ) -> WholeBodyReference:
        """Return the reference with the soles as they have yielded.

        Args:
            reference: Of the plan, with the expected wrenches.
            state: With the measured wrenches.
            period: [s].
            is_trusted: Whether both feet's sensors are; otherwise the soles stay as they are.
        """
        if self._is_off:
            return reference
        left, right, function = reference.left_foot, reference.right_foot, self._function
        constants = self._config.expected_time_constant, self._config.surplus_time_constant
        gains = [1.0 if self._is_first else low_pass_gain(constant, period) for constant in constants]
        self._is_first = False
        function.set(
            period=period,
            expected_gain=gains[0],
            surplus_gain=gains[1],
            yields=is_trusted and left.in_contact and right.in_contact,
        )
        wrenches = (
            *(reference.left_foot_wrench, reference.right_foot_wrench),
            *(state.left_foot_wrench, state.right_foot_wrench),
        )
        poses = left.position, right.position, left.rotation, right.rotation, left.twist, right.twist
        for window, value in zip(self._windows, wrenches + poses, strict=True):
            window[...] = value
        outputs = function()
        self._memory[...] = outputs["memory"]
        positions, rotations, twists = (sealed(outputs[name].copy()) for name in ("positions", "rotations", "twists"))
        return altered(
            reference,
            left_foot=altered(left, position=positions[0], rotation=rotations[:3], twist=twists[0]),
            right_foot=altered(right, position=positions[1], rotation=rotations[3:], twist=twists[1]),
        )


_CONSTANTS = ("height_gain", "tilt_gain", "spread_gain", "leak_time_constant", "highest", "widest", "steepest")


def _admittance(compiler: Compiler) -> FlatFunction:
    """Return the equations; rows of matrices: left, right; memory: height, tilts, low passes."""
    shapes = {"expected": (2, 6), "measured": (2, 6), "positions": (2, 3), "rotations": (6, 3), "twists": (2, 6)}
    inputs = {name: cs.SX.sym(name, *shape) for name, shape in shapes.items()}
    inputs |= {name: cs.SX.sym(name) for name in ("period", "expected_gain", "surplus_gain", "yields", *_CONSTANTS)}
    inputs["memory"] = memory = cs.SX.sym("memory", 24)
    shifts, tilts, last = memory[:2], (memory[2:4], memory[4:6]), cs.reshape(memory[6:18], 6, 2).T
    expected = last + inputs["expected_gain"] * (inputs["expected"] - last)
    expected = cs.if_else(inputs["expected_gain"] < 1.0, expected, inputs["expected"])
    across = _across(inputs["positions"])
    newest = _surplus(inputs, expected, across)
    surplus = inputs["yields"] * (memory[18:] + inputs["surplus_gain"] * (newest - memory[18:]))
    rates, turns = _rates(inputs, surplus, shifts, tilts)
    shifts, axes = shifts + inputs["period"] * rates, cs.horzcat(cs.DM([0.0, 0.0, 1.0]), across)
    kept = [shifts]
    outputs: dict[str, list[cs.SX]] = {"positions": [], "rotations": [], "twists": []}
    for row, sign in ((0, 1.0), (1, -1.0)):
        tilt = tilts[row] + inputs["period"] * turns[row]
        kept.append(tilt)
        rotation = inputs["rotations"][3 * row : 3 * row + 3, :]
        spin = rotation[:, :2] @ turns[row]
        outputs["positions"].append(inputs["positions"][row, :] + sign * (axes @ shifts).T)
        outputs["rotations"].append(rotation @ symbolic_exp(cs.vertcat(tilt, 0.0)))
        outputs["twists"].append(inputs["twists"][row, :] + cs.vertcat(sign * axes @ rates, spin).T)
    results = {name: cs.vertcat(*rows) for name, rows in outputs.items()}
    results["memory"] = cs.vertcat(*kept, cs.vec(expected.T), surplus)
    return FlatFunction("foot_admittance", inputs, results, compiler)


def _across(positions: cs.SX) -> cs.SX:
    """Return the horizontal unit vector from the right sole to the left one, (3, 1)."""
    way = (positions[0, :2] - positions[1, :2]).T
    return cs.vertcat(way / cs.fmax(cs.norm_2(way), _NEGLIGIBLE), 0.0)


def _surplus(inputs: Mapping[str, cs.SX], expected: cs.SX, across: cs.SX) -> cs.SX:
    """Return what was not expected, (6, 1).

    That is half of the difference of the feet's forces [N], vertical and along the line between them, and the moments
    about their centres of pressure, axes of the soles [N·m].
    """
    measured = inputs["measured"]
    apart = 0.5 * (measured - expected)[:, :3].T @ cs.DM([1.0, -1.0])
    rows = [apart[_NORMAL], across.T @ apart]
    for row in range(2):
        rotation = inputs["rotations"][3 * row : 3 * row + 3, :]
        levers = expected[row, 3:5] / cs.fmax(expected[row, _NORMAL], 1.0)
        moment = cs.vertcat((measured[row, 3:5] - measured[row, _NORMAL] * levers).T, 0.0)
        rows.append((rotation.T @ moment)[:2])
    return cs.vertcat(*rows)


def _rates(
    inputs: Mapping[str, cs.SX], surplus: cs.SX, shifts: cs.SX, tilts: Sequence[cs.SX]
) -> tuple[cs.SX, list[cs.SX]]:
    """Return the rates of both shifts, (2, 1), [m/s], and of both tilts, [rad/s]: zero unless the feet yield."""

    def rate(offset: cs.SX, gain: cs.SX, cause: cs.SX, limit: cs.SX) -> cs.SX:
        wanted = gain * cause - offset / inputs["leak_time_constant"]
        reached = cs.fmin(cs.fmax(offset + inputs["period"] * wanted, -limit), limit)
        return cs.if_else(inputs["yields"] > 0.5, (reached - offset) / inputs["period"], 0.0)

    height, spread = (inputs[f"{name}_gain"] for name in ("height", "spread"))
    climb = rate(shifts[0], height, surplus[0], inputs["highest"])
    widen = rate(shifts[1], spread, surplus[1], inputs["widest"])
    moments = surplus[2:4], surplus[4:6]
    turns = [rate(tilts[row], inputs["tilt_gain"], moments[row], inputs["steepest"]) for row in range(2)]
    return cs.vertcat(climb, widen), turns


class SoleLevelling:
    r"""Keeps the soles level, and those in the air at their height, while the robot itself tilts.

    Servos of position and velocity move the swinging foot relative to the body. Where the stance sole tips about an
    edge, the body tilts and the foot comes down early and on an edge, or hangs in the air when it should stand. Height
    and tilt of a sole without load are therefore fed back, with :math:`e` the planned pose less the measured one,

    .. math:: o = k_P e_z e_3 + k_I \int e \, dt, \qquad p = p_r + o_{z}, \quad R = Exp(o_{x,y}) R_r

    A stance sole that tips about an edge lifts its own frame, from which the state estimator counts: the ground is
    lower than measured by that rise, of which ``rise_gain`` counts, ``landed_rise_gain`` for a foot that has just
    landed and hangs in the air where it should take the load. A sole that carries load gives its offset back with a
    time constant. Under a robot that stands and is pushed it tips on an edge, which the ZMP cannot leave then, and
    the robot rocks back farther than it came: its tilt is integrated as well, so that it lies flat under the tilted
    robot (of a robot that walks, that costs a twentieth of the pushes). Torque control, which feeds the poses of
    the feet back itself, needs none of this.

    Attributes:
        offsets: Of each sole: tilt about x and y [rad] and height [m], shape (3,); empty while there are none.
    """

    def __init__(self, config: StepAdaptationConfig, weight: float, sole: SoleRectangle) -> None:
        """Take the gains, the robot's weight [N] and its left sole."""
        self._config, self._sole = config, sole
        self._load = _AIRBORNE_LOAD * weight
        self.reset()

    def reset(self) -> None:
        """Forget the past: the soles are as planned."""
        self.offsets: dict[Side, NDArray] = {}
        self._integrals: dict[Side, NDArray] = {}

    def levelled(
        self,
        reference: WholeBodyReference,
        state: RobotState,
        is_active: bool,
        stands: bool,
        period: float,
        landed: Side | None = None,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the feet where they come to their planned poses.

        Args:
            reference: With the planned feet.
            state: With the measured ones.
            is_active: Whether a push is being caught; otherwise offsets are given back.
            stands: Whether a robot that stands is pushed: its soles with load are laid flat as well.
            period: [s].
            landed: Foot that landed last in a walk, and should take the load or carry the robot; None: there is none.
        """
        config, rise = self._config, self._rise_of_support(reference, state) if is_active else 0.0
        rises = {side: rise * (config.landed_rise_gain if side is landed else config.rise_gain) for side in Side}
        feet = {side: self._corrected(side, reference, state, is_active, stands, rises[side], period) for side in Side}
        if not is_active and all(np.abs(offset).max() < _NEGLIGIBLE for offset in self.offsets.values()):
            self.reset()
        return altered(reference, left_foot=feet[Side.LEFT], right_foot=feet[Side.RIGHT])

    def _rise_of_support(self, reference: WholeBodyReference, state: RobotState) -> float:
        """Return how far the frame of the sole that carries the robot rises above the ground by tipping, [m]."""
        side = max(Side, key=lambda side: float(state.foot_wrench(side)[2]))
        foot = reference.left_foot if side is Side.LEFT else reference.right_foot
        slope = foot.rotation[:, 2] @ state.foot_rotation(side)[:, :2]
        return -float((self._sole.corners(side) @ slope).min())

    def _corrected(
        self,
        side: Side,
        reference: WholeBodyReference,
        state: RobotState,
        is_active: bool,
        stands: bool,
        rise: float,
        period: float,
    ) -> FootReference:
        foot = reference.left_foot if side is Side.LEFT else reference.right_foot
        last = self.offsets.get(side, np.zeros(3))
        tilt = so3.log(foot.rotation @ state.foot_rotation(side).T)[:2]
        if is_active and state.foot_wrench(side)[2] < self._load:
            height = float(foot.position[2] - state.foot_position(side)[2]) - rise
            integral = self._integrals.get(side, last) + period * INTEGRAL_GAIN * np.array([*tilt, height])
            offset = integral + np.array((0.0, 0.0, HEIGHT_GAIN * height))
        else:
            integral = offset = last - min(1.0, period / LEAK_TIME) * last
            if stands and foot.in_contact:
                integral = offset = offset + period * TILT_GAIN * np.array([*tilt, 0.0])
        self._integrals[side] = integral.clip(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        offset = offset.clip(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        offset[2] = last[2] + np.clip(offset[2] - last[2], -SOLE_SPEED * period, SOLE_SPEED * period)
        self.offsets[side] = offset
        return _moved(foot, offset, (offset - last) / period)


def landed_last(reference: WalkingReference) -> Side:
    """Return the foot of a walk that landed last: it carries the robot or takes the load."""
    return reference.stance_foot.other if reference.is_double_support else reference.stance_foot


def _moved(foot: FootReference, offset: NDArray, rate: NDArray) -> FootReference:
    """Return a foot that is tilted about x and y [rad] and lifted [m] by an offset, shape (3,), and its rate."""
    tilt, rise = np.array((offset[0], offset[1], 0.0)), np.array((0.0, 0.0, offset[2]))
    twist = foot.twist.copy()
    twist[2:5] += rate[2], rate[0], rate[1]
    return altered(foot, position=foot.position + rise, rotation=so3.exp(tilt) @ foot.rotation, twist=twist)
