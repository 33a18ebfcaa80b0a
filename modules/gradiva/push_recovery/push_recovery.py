"""Push recovery: the interface that the tick asks; and soles, which yield to the ground where they stand."""

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
    WalkingReference,
    altered,
    configuration,
    low_pass_gain,
    setting,
    unchecked,
)
from gradiva.planner import WalkingPlan
from gradiva.push_recovery.compensation import PushCompensation
from gradiva.push_recovery.step_adaptations import StepAdaptation, StepChange
from gradiva.push_recovery.step_adapter import SteppingMode
from gradiva.push_recovery.tilt import SoleLevelling, Trunk
from gradiva.robot_model import Compiler, FlatFunction, built_once, interpreted, symbolic_exp
from gradiva.simplified_model import BalancePlan
from gradiva.whole_body import WholeBodyReference

_RATE_TIME = 0.03  # [s] time constant of the DCM, of which the derivative is taken
_NORMAL = 2  # row of the vertical force in a wrench


class PushRecovery:
    """Answers a push by steps, trunk and soles.

    A tick asks for ``pendulum``, the state that layer 2 and the steps see; ``update``, the change of the plan; and
    ``answered``, the reference of layer 3 with tilted trunk, soles and what yields.

    Attributes:
        steps: Step adaptation.
        trunk: Its tilt, or one that stays upright.
        soles: How soles are moved; None: they stay as planned, and torque control feeds their poses back itself.
    """

    def __init__(
        self,
        steps: StepAdaptation,
        trunk: Trunk,
        soles: MovedSoles | None,
        compensation: PushCompensation,
        period: float,
    ) -> None:
        """Take the parts and the period of the tick, [s]."""
        self.steps, self.trunk, self.soles, self._compensation = steps, trunk, soles, compensation
        self._period, self._gain = period, low_pass_gain(_RATE_TIME, period)
        self._slow_dcm: tuple[float, float] | None = None

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self._slow_dcm = None
        for part in (self.steps, self.trunk, self._compensation):
            part.reset()
        if self.soles is not None:
            self.soles.reset()

    def set_mode(self, mode: SteppingMode) -> None:
        """Let other things change of a step; called between ticks."""
        self.steps.mode = mode
        self.steps.reset()

    def update(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, suspected: Side | None = None
    ) -> tuple[RobotState, StepChange | None]:
        """Return the state of the pendulum, as if nothing pushed or tilted the robot, and the change of the plan.

        The change is what a push asks for, or None; see ``StepAdaptation.update``. A ``suspected`` foot should stand
        and reads nothing: where the other one is planned to be in the air, steps see it carry as much, and do not wait
        for its load. Dead or in the air, the next ticks show.
        """
        pendulum = self._pendulum(state, reference)
        if self.steps.mode is SteppingMode.OFF:
            return pendulum, None
        seen = pendulum
        if suspected is not None and not reference.foot(suspected.other).in_contact:
            seen = altered(pendulum, **{f"{suspected}_foot_wrench": pendulum.foot_wrench(suspected.other)})
        return pendulum, self.steps.update(seen, reference, plan)

    def _pendulum(self, state: RobotState, reference: WalkingReference) -> RobotState:
        if state.external_wrench is not None:
            state = self._compensation.compensated(state, reference)
        return state if self.trunk.is_upright else self.trunk.upright(state, reference)

    def push(self, time: float, is_catching: bool, walks: bool, is_trusted: bool) -> Push:
        """Return the state of a push at ``time`` [s] of a robot that is commanded to walk or to stand; see ``Push``."""
        stands = not walks and self.steps.is_recovering(time)
        return Push(stands or is_catching, stands, is_trusted)

    def answered(
        self,
        body: WholeBodyReference,
        state: RobotState,
        pendulum: RobotState,
        now: BalancePlan,
        ahead: WalkingReference,
        push: Push,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the tilted trunk, the soles as they are moved, and what yields.

        Args:
            body: Of layer 2 and the plan.
            state: Estimated in this tick.
            pendulum: The same as layer 2 has it.
            now: The plan as layer 2 has it.
            ahead: The plan at the time of ``body``.
            push: Its state.
        """
        x, y = pendulum.dcm_position.tolist()
        last_x, last_y = last = self._slow_dcm or (x, y)
        self._slow_dcm = last_x + self._gain * (x - last_x), last_y + self._gain * (y - last_y)
        if push.is_caught or not self.trunk.is_upright:
            rate = np.subtract(self._slow_dcm, last) / self._period
            self.trunk.update(pendulum, rate, now, push.is_caught, self._period)
        if not self.trunk.is_upright:
            body = self.trunk.applied(body, ahead.heading)
        if self.soles is not None:
            body = self.soles.moved(body, state, ahead, push, self._period)
        if push.is_caught or self.steps.catches:
            body = altered(body, height_yields=push.is_caught, step_catches=self.steps.catches)
        return body


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


class MovedSoles:
    """Soles that yield to the ground and, while a push is caught, are kept level."""

    def __init__(self, admittance: FootAdmittance, levelling: SoleLevelling) -> None:
        """Take both laws."""
        self.admittance, self.levelling = admittance, levelling

    def reset(self) -> None:
        """Forget the past: both soles are as planned."""
        self.admittance.reset()
        self.levelling.reset()

    def moved(
        self, body: WholeBodyReference, state: RobotState, ahead: WalkingReference, push: Push, period: float
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the soles as they are moved, by the plan ``ahead`` at its time."""
        body = self.admittance.adapted(body, state, period, push.is_trusted)
        if not push.is_caught and not self.levelling.offsets:
            return body
        levels = push.is_caught and push.is_trusted  # a sensor that reads no load makes a stance sole one in the air
        landed = None if push.stands else landed_last(ahead)
        return self.levelling.levelled(body, state, levels, push.stands and levels, period, landed)


def landed_last(reference: WalkingReference) -> Side:
    """Return the foot of a walk that landed last: it carries the robot or takes the load."""
    return reference.stance_foot.other if reference.is_double_support else reference.stance_foot


@configuration
class FootAdmittanceConfig:
    """Gains with which feet that stand yield to forces that were not expected.

    Attributes:
        height_gain: Speed of one foot against the other for each newton that it carries too much, [m/(s·N)].
        tilt_gain: Angular velocity of a sole for each moment about its expected centre of pressure, [rad/(s·N·m)].
        spread_gain: Horizontal speed of one foot against the other for each newton by which they pull, [m/(s·N)].
        leak_time_constant: In which what has been yielded is taken back while both feet stand, [s].
        expected_time_constant: Of the low pass on the expected wrenches: measured ones are as much older, [s].
        surplus_time_constant: Of the low pass on measured less expected wrenches: what is faster answers the
            servos, and closes a loop with them, [s].
        highest: Largest height of a sole over its plan, [m].
        widest: Largest horizontal way of a sole along each of its axes, [m].
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
        p_{l,r} &= p^p_{l,r} \pm s, \\
        \dot\theta_k &= a_\theta F \left(\mu_k - c^e_k \times f_k\right)_{x,y} - \theta_k / T, &
        R_k &= R^p_k \, Exp(\theta_k),

    with a low pass F, normal forces :math:`f`, horizontal forces :math:`t` in the axes of the left sole, moments
    :math:`\mu_k` about the sole's origin and the expected centres of pressure :math:`c^e_k` of the plan and the DCM
    law. The offsets are kept while one foot swings, since what causes them goes along with the joints: the next step
    lands as the last one ended. F begins anew as both stand.

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
        return self._memory[3:7].reshape(2, 2).copy()

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
        (p_left, p_right), (v_left, v_right) = outputs["positions"].copy(), outputs["twists"].copy()
        rotations = outputs["rotations"].copy()
        return altered(
            reference,
            left_foot=_moved(left, p_left, rotations[:3], v_left),
            right_foot=_moved(right, p_right, rotations[3:], v_right),
        )


def _moved(foot: FootReference, position: NDArray, rotation: NDArray, twist: NDArray) -> FootReference:
    return unchecked(
        FootReference,
        position=position,
        rotation=rotation,
        twist=twist,
        acceleration=foot.acceleration,
        in_contact=foot.in_contact,
    )


_CONSTANTS = ("height_gain", "tilt_gain", "spread_gain", "leak_time_constant", "highest", "widest", "steepest")


def _admittance(compiler: Compiler) -> FlatFunction:
    """Return the equations; rows of matrices: left, right; memory: shifts, tilts, low passes."""
    shapes = {"expected": (2, 6), "measured": (2, 6), "positions": (2, 3), "rotations": (6, 3), "twists": (2, 6)}
    inputs = {name: cs.SX.sym(name, *shape) for name, shape in shapes.items()}
    inputs |= {name: cs.SX.sym(name) for name in ("period", "expected_gain", "surplus_gain", "yields", *_CONSTANTS)}
    inputs["memory"] = memory = cs.SX.sym("memory", 26)
    shifts, tilts, last = memory[:3], (memory[3:5], memory[5:7]), cs.reshape(memory[7:19], 6, 2).T
    expected = last + inputs["expected_gain"] * (inputs["expected"] - last)
    expected = cs.if_else(inputs["expected_gain"] < 1.0, expected, inputs["expected"])
    surplus = inputs["surplus_gain"] * (_surplus(inputs, expected) - memory[19:])
    surplus = inputs["yields"] * (memory[19:] + surplus)
    rates, turns = _rates(inputs, surplus, shifts, tilts)
    shifts, axes = shifts + inputs["period"] * rates, _axes(inputs)
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


def _axes(inputs: Mapping[str, cs.SX]) -> cs.SX:
    """Return the axes of the shifts, columns: up, and the left sole's x and y without what is not horizontal."""
    level = cs.vertcat(inputs["rotations"][:2, :2], cs.SX.zeros(1, 2))
    return cs.horzcat(cs.DM([0.0, 0.0, 1.0]), level)


def _surplus(inputs: Mapping[str, cs.SX], expected: cs.SX) -> cs.SX:
    """Return what was not expected, (7, 1).

    That is half of the difference of the feet's forces [N], along `_axes`, and the moments about their centres of
    pressure, axes of the soles [N·m].
    """
    measured = inputs["measured"]
    rows = [_axes(inputs).T @ (0.5 * (measured - expected)[:, :3].T @ cs.DM([1.0, -1.0]))]
    for row in range(2):
        rotation = inputs["rotations"][3 * row : 3 * row + 3, :]
        levers = expected[row, 3:5] / cs.fmax(expected[row, _NORMAL], 1.0)
        moment = cs.vertcat((measured[row, 3:5] - measured[row, _NORMAL] * levers).T, 0.0)
        rows.append((rotation.T @ moment)[:2])
    return cs.vertcat(*rows)


def _rates(
    inputs: Mapping[str, cs.SX], surplus: cs.SX, shifts: cs.SX, tilts: Sequence[cs.SX]
) -> tuple[cs.SX, list[cs.SX]]:
    """Return the rates of the shifts, (3, 1), [m/s], and of both tilts, [rad/s]: zero unless the feet yield."""

    def rate(offset: cs.SX, gain: cs.SX, cause: cs.SX, limit: cs.SX) -> cs.SX:
        wanted = gain * cause - offset / inputs["leak_time_constant"]
        reached = cs.fmin(cs.fmax(offset + inputs["period"] * wanted, -limit), limit)
        return cs.if_else(inputs["yields"] > 0.5, (reached - offset) / inputs["period"], 0.0)

    height, spread = (inputs[f"{name}_gain"] for name in ("height", "spread"))
    climb = rate(shifts[0], height, surplus[0], inputs["highest"])
    apart = [rate(shifts[axis], spread, surplus[axis], inputs["widest"]) for axis in (1, 2)]
    moments = surplus[3:5], surplus[5:7]
    turns = [rate(tilts[row], inputs["tilt_gain"], moments[row], inputs["steepest"]) for row in range(2)]
    return cs.vertcat(climb, *apart), turns
