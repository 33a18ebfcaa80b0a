r"""Step adaptation: where and when the swinging foot lands so that the DCM ends where the walk goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import casadi as cs
import numpy as np

from gradiva.common import DcmReference, NDArray, PlanarPose, Side, SoleRectangle, configuration, setting, so3
from gradiva.planner import PlannerConfig
from gradiva.robot_model import Compiler, FlatFunction, built_once, interpreted

RELEASE_ERROR = 0.008  # [m] of the DCM error, below which the footholds are the plan's again
SHORTEST_SUPPORT = 0.45  # [s] single support of a step from standing; the swing sole lags behind in shorter ones
LONGEST_SUPPORT = 1.6  # [-] of the planned single support
STEP_WEIGHT = 1.0  # [-] w_u, on the change of the foothold
OFFSET_WEIGHT = 1e3  # [-] w_b, on the error of the DCM after touch-down: as good as a constraint
TIME_WEIGHT = 0.2  # [m²/s²] w_T, on the change of the time to touch-down
_LOSS_WEIGHT = 1e6  # [-] w_σ, on a DCM that is lost
_CONTRADICTION = 1e8  # [-] on the way by which legs keep a landing from what the swing reaches
_TIMES = 16  # of touch-down that are tried, then half as many between the neighbours of the best
_TINY = 1e-12  # [m]
SOLE_MARGIN = 0.005  # [m] kept by the ZMP from the edges of the stance sole
ZMP_LAG = 0.04  # [s] T_z, of the ZMP behind the commanded one
LEG_ACCELERATION = 23.0  # [rad/s²] of a swinging leg: 12 m/s² on iCub v2.7, whose servos follow that within centimetres
LEG_SPEED = 4.6  # [rad/s] likewise, 2.4 m/s
STANDING_ACCELERATION = 12.0  # [m/s²] of a sole that carries load as its step begins
STANDING_SPEED = 2.4  # [m/s] likewise
_HALF_SOLE = 0.05  # [m] no ZMP of a foot that stands alone is farther from its reference
_USED_REACH = 0.93  # [-] of the reach, by each step of a walk that goes on for ever
_ITERATIONS = 30  # of the lateral bounds of the viable set, which converge as e^{-ζ T}
_VIABLE_TIMES = 40  # of the steps after the landing, of which the best counts


class SteppingMode(StrEnum):
    """Names what step adaptation may change."""

    OFF = "off"
    PLACE = "place"
    PLACE_AND_TIME = "place_and_time"


@configuration
class StepAdaptationConfig:
    """Settings of reactive stepping, ``[step_adaptation]``.

    Attributes:
        mode: What it may change.
        law: Name of the step adaptation: ``dcm``, an entry point of another package, or ``package.module:Class``.
        trigger: DCM error in single support beyond which the next foothold is adapted, [m].
        lateness: Of the DCM of a healthy robot that walks fast, [s]: errors count from where its reference has been in
            that time.
        reach: Largest distance of the feet after an adapted step, as a part of the planner's, [-].
        tipping_margin: Distance of the ZMP from toe and heel of the stance sole, while landings are chosen, [m].
        laws: Tables of step adaptations of other packages, by name.
    """

    mode: SteppingMode
    law: str
    trigger: float = setting("m", least=RELEASE_ERROR, why="an error below it releases")
    lateness: float = setting("s", least=0.0)
    reach: float = setting("-", above=0.0, most=1.0, why="the planner refuses farther landings")
    tipping_margin: float = setting("m", least=0.0)
    laws: Mapping[str, Any]


def shortest_single_support(limits: PlannerConfig) -> float:
    """Return the shortest single support of a step from standing, [s], also within the limits of the planner."""
    return max(SHORTEST_SUPPORT, limits.single_support(limits.min_step_duration))


@dataclass(frozen=True, slots=True)
class Legs:
    """Limits of steps in place and time.

    Attributes:
        reach: Largest distance of the sole frames, [m].
        min_width: Least lateral distance of them, [m].
        shortest: Single support, [s].
        longest: Single support, [s].
        acceleration: A, of the swinging sole, [m/s²]: that of the leg times the height of the CoM.
        speed: V, likewise, [m/s].
    """

    reach: float
    min_width: float
    shortest: float
    longest: float
    acceleration: float
    speed: float


def legs_of(config: StepAdaptationConfig, limits: PlannerConfig, stands: bool = False) -> Legs:
    """Return the limits of adapted steps, or of those from standing."""
    reach, width = config.reach * limits.max_feet_distance, max(limits.min_step_width, limits.min_feet_distance)
    shortest, longest = (limits.single_support(time) for time in (limits.min_step_duration, limits.max_step_duration))
    acceleration, speed = LEG_ACCELERATION * limits.com_height, LEG_SPEED * limits.com_height
    if stands:
        acceleration, speed = STANDING_ACCELERATION, STANDING_SPEED
    return Legs(reach, width, shortest, longest, acceleration, speed)


@dataclass(slots=True, eq=False)
class RunningStep:
    """State of a single support, from which its landing is adapted; world. It may be reused from tick to tick.

    Attributes:
        dcm_position: Where the DCM is, [m], shape (2,).
        zmp_position: Where the ZMP is, counted as in the stance sole, [m], shape (2,).
        dcm_offset: DCM less the ZMP point of the landing foot, in the middle of the double support that follows, with
            which the walk goes on as planned, [m], shape (2,).
        natural_frequency: ζ, [rad/s].
        side: Foot that swings.
        stance: Sole that stands.
        landing: Nominal landing of the other one.
        double_support: That follows, [s].
        time_left: Nominal time to touch-down, [s].
        shortest: Least time to touch-down, [s].
        longest: Largest time to touch-down, [s].
        swing_position: Of the swinging sole, [m], shape (2,).
        swing_velocity: [m/s], shape (2,).
    """

    dcm_position: NDArray
    zmp_position: NDArray
    dcm_offset: NDArray
    natural_frequency: float
    side: Side
    stance: PlanarPose
    landing: PlanarPose
    double_support: float
    time_left: float = 0.0
    shortest: float = 0.0
    longest: float = 0.0
    swing_position: NDArray = field(default_factory=lambda: np.zeros(2))
    swing_velocity: NDArray = field(default_factory=lambda: np.zeros(2))


@dataclass(slots=True, eq=False)
class AdaptedStep:
    """Landing that step adaptation chose; world.

    Attributes:
        landing: Of the swinging sole.
        time_left: To touch-down, [s].
        zmp_position: Constant ZMP until touch-down, within the stance sole, [m], shape (2,).
        dcm_offset: DCM less the ZMP point of the landing foot, in the middle of the double support, [m], shape (2,).
        offset_error: The same less the nominal one, [m], shape (2,).
    """

    landing: PlanarPose
    time_left: float
    zmp_position: NDArray
    dcm_offset: NDArray
    offset_error: NDArray


def predicted_dcm(dcm: NDArray, zmp: NDArray, planned: DcmReference, frequency: float, age: float) -> NDArray:
    r"""Return the present DCM of a pushed pendulum whose measured one is old, [m], shape (2,).

    Its error from the planned one grows as on a pendulum, with a ZMP that is at most half a sole off the planned one:

    .. math:: \hat\xi = \xi + T_a \zeta (e - (z - z_r)), \qquad e = \xi - \xi_r, \quad
              z_r = \xi_r - \dot\xi_r / \zeta

    Args:
        dcm: ξ, measured, [m], shape (2,).
        zmp: z, counted as that of an upright trunk, [m], shape (2,).
        planned: ξ_r and its rate.
        frequency: ζ, [rad/s].
        age: T_a of ``dcm``, [s].
    """
    predicted = []  # in plain numbers: half of the time of arrays of two
    vectors = dcm, zmp, planned.position, planned.velocity
    for xi, z, xi_r, rate in zip(*map(np.ndarray.tolist, vectors), strict=True):
        zmp_error = z - (xi_r - rate / frequency)
        predicted.append(xi + age * frequency * (xi - xi_r - min(max(zmp_error, -_HALF_SOLE), _HALF_SOLE)))
    return np.array(predicted)


def viable_set(frequency: float, double_support: float, lower: NDArray, upper: NDArray, legs: Legs) -> NDArray:
    r"""Return bounds of the DCM from which steps go on without end, [m], rows: least, greatest; columns: x, y.

    The DCM counts from the landed sole in the middle of double support, y towards the other foot, which swings next.
    With :math:`g = e^{\zeta (T + T_d)}`, the ZMP in the sole, :math:`z^- \le z \le z^+`, steps of the length D and
    swings of the acceleration A and the speed V,

    .. math::
        x &\in z^\pm_x \pm \max_T \frac{\min(D, A T^2 / 12, V T / 3)}{g - 1}, \\
        U &= \max_T \left[ z^+_y (1 - 1/g) + (w^+ - L) / g \right], \quad
        L = \min_T \left[ z^-_y (1 - 1/g) + (w^- - U) / g \right]

    with the lateral distances :math:`w^\pm` of the feet: each landing mirrors the offset of the DCM.

    Args:
        frequency: ζ, [rad/s].
        double_support: T_d, [s].
        lower: Corner of the sole, :math:`z^-`, [m], shape (2,).
        upper: :math:`z^+`, [m], shape (2,).
        legs: Limits of the steps.
    """
    times = np.linspace(legs.shortest, legs.longest, _VIABLE_TIMES)
    growth = np.exp(frequency * (times + double_support))
    farthest = _USED_REACH * legs.reach
    ways = np.minimum(farthest, np.minimum(legs.acceleration * times**2 / 12.0, legs.speed * times / 3.0))
    ahead = float((ways / (growth - 1.0)).max())
    low, high = float(lower[1]), float(upper[1])
    for _ in range(_ITERATIONS):
        high, low = (
            float((upper[1] * (1.0 - 1.0 / growth) + (farthest - low) / growth).max()),
            float((lower[1] * (1.0 - 1.0 / growth) + (legs.min_width - high) / growth).min()),
        )
    return np.array(((lower[0] - ahead, low), (upper[0] + ahead, high)))


class StepAdapter:
    r"""Chooses the landing after which the walk goes on, and if none does, the one that loses least.

    From now to the middle of the double support after touch-down, :math:`R = T + T_d / 2`, the DCM grows by
    :math:`E = e^{\zeta R}`. The ZMP follows the commanded :math:`z_0` with the time constant
    :math:`T_z`. Then

    .. math:: X = E \hat\xi - a_n z - a_c z_0, \quad
              a_n = \zeta E \frac{1 - e^{-(\zeta + 1/T_z) R}}{\zeta + 1/T_z}, \quad a_c = E - 1 - a_n

    which is linear in all but :math:`T`. The swinging leg, which the pendulum lacks, moves the ZMP by :math:`M a`
    (``LegMomentumConfig``). Its cubic from p and the velocity v to the landing s moves X by

    .. math:: M \zeta \int_0^T e^{\zeta (R - t)} a \, dt = M (w_p (s - p) + w_v v), \quad
              w_p = 6 \zeta E \frac{I_0 T - 2 I_1}{T^3}, \quad w_v = 2 \zeta E \frac{3 I_1 - 2 I_0 T}{T^2}

    with :math:`I_0 = (1 - e^{-\zeta T}) / \zeta` and :math:`I_1 = (I_0 - T e^{-\zeta T}) / \zeta`: forward, as it goes,
    and the more of it the longer T: of a metre of the landing :math:`1 - M w_p` is left, 0.6 on iCub v2.7 at 0.45 s,
    none beyond 0.75 s, where no landing helps. The lift of the foot is left out.

    Objective, with the ZMP point :math:`u` of the landing foot and :math:`b = X - u`:

    .. math:: w_u |u - u_n|^2 + w_b |b - b_n|^2 + w_T (T - T_n)^2 + w_\sigma |\sigma|^2,
              \qquad b - \sigma \in \mathcal V

    Constraints: :math:`z_0` in the stance sole less its margin; the landing within reach of the stance sole and beside
    it; a cubic from the swing's position and velocity to rest at the landing with the acceleration A at both ends at
    most, and the mean speed V / 1.5. Only the viable set :math:`\mathcal V` (``viable_set``) may be missed, no leg.

    Each :math:`T` of a scan, and of a finer one about the best, is solved per axis in closed form: ankle first,
    then the step, and what remains is left to :math:`b`. A landing out of reach is moved back along x, along y, or
    towards the stance sole.

    =====================  ==============================  =====
    Symbol                 Name                            Unit
    =====================  ==============================  =====
    :math:`\hat\xi`        ``dcm_position``                m
    :math:`z`              ``zmp_position``                m
    :math:`b_n`            ``dcm_offset``                  m
    :math:`\zeta`          ``natural_frequency``           rad/s
    :math:`T_n, T_d`       ``time_left, double_support``   s
    :math:`T_z`            ``ZMP_LAG``                     s
    =====================  ==============================  =====
    """

    def __init__(
        self,
        config: StepAdaptationConfig,
        sole: SoleRectangle,
        zmp_offset: tuple[float, float],
        legs: Legs,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the constants; ``config`` and ``sole`` may be read back.

        Args:
            config: Margin of the sole from toe and heel.
            sole: Of the left foot.
            zmp_offset: Nominal ZMP in the frame of the left foot, mirrored for the right one, [m].
            legs: Limits of the steps.
            compiler: How the equations become fast.
        """
        self.config, self.sole, self.legs = config, sole, legs
        self._function = built_once((_function, compiler), lambda: _function(compiler))
        self._function.set(
            sole_x=np.add(sole.x, (config.tipping_margin, -config.tipping_margin)),
            sole_y=np.add(sole.y, (SOLE_MARGIN, -SOLE_MARGIN)),
            zmp_offset=zmp_offset,
            reach=legs.reach,
            min_width=legs.min_width,
            leg_momentum=0.0,
            acceleration=legs.acceleration,
            speed=legs.speed,
        )
        self._constants: tuple[object, ...] = ()

    def set_leg_momentum(self, momentum: NDArray) -> None:
        """Take M of a foot, ahead and aside of the robot, [s²], shape (2,); until then legs are massless."""
        self._function.set(leg_momentum=momentum)

    def comes_to_stand(self, step: RunningStep, wanted: NDArray) -> bool:
        """Return whether the DCM gets between both soles after a last step that stays as planned: ankles then stop it.

        Over the ZMP of the stance sole that brings it nearest to ``wanted`` [m], in the middle of the double support.
        """
        growth = math.exp(step.natural_frequency * (step.time_left + 0.5 * step.double_support))
        to_sole = so3.rotation_z(-step.stance.yaw)[:2, :2]
        origin, landing = ([pose.x, pose.y] for pose in (step.stance, step.landing))
        sole = self.sole.corners(step.side.other, SOLE_MARGIN)
        zmp = to_sole @ ((growth * step.dcm_position - wanted) / (growth - 1.0) - origin)
        missed = (growth - 1.0) * np.abs(zmp - np.clip(zmp, sole.min(axis=0), sole.max(axis=0)))
        width = abs(float(to_sole[1] @ np.subtract(landing, origin)))
        return bool(np.all(missed < 0.5 * np.array([np.ptp(sole[:, 0]), width])))

    def adapt(self, step: RunningStep) -> AdaptedStep:
        """Return the landing of least cost."""
        gait = step.natural_frequency, step.double_support
        constants = (step.stance, step.landing, step.side, *gait, *step.dcm_offset.tolist())
        if constants != self._constants:  # once a step: a tick writes the rest alone
            self._constants = constants
            self._begin(step)
        self._function.write(
            {
                "dcm": step.dcm_position,
                "zmp_now": step.zmp_position,
                "time_left": step.time_left,
                "shortest": step.shortest,
                "longest": max(step.shortest, step.longest),
                "swing_position": step.swing_position,
                "swing_velocity": step.swing_velocity,
            }
        )
        outputs = self._function()
        x, y, time_left = outputs["step"].tolist()
        return AdaptedStep(PlanarPose(x, y, step.landing.yaw), time_left, *outputs["balance"].reshape(3, 2).copy())

    def _begin(self, step: RunningStep) -> None:
        """Write what stays as it is until touch-down."""
        stance, landing = step.stance, step.landing
        self._function.set(
            dcm_offset=step.dcm_offset,
            frequency=step.natural_frequency,
            swing_sign=step.side.sign,
            stance=(stance.x, stance.y, stance.yaw),
            nominal=(landing.x, landing.y, landing.yaw),
            double_support=step.double_support,
            viable=self._viable(step.natural_frequency, step.double_support),
        )

    def _viable(self, frequency: float, double_support: float) -> NDArray:
        """Return the viable set of a gait; the sole is the left one, y to the right."""
        (heel, toe), (right, left) = self._function.inputs["sole_x"].tolist(), self.sole.y
        lower, upper = np.array((heel, SOLE_MARGIN - left)), np.array((toe, -SOLE_MARGIN - right))
        return viable_set(frequency, double_support, lower, upper, self.legs)


_SOLE = ("sole_x", "sole_y", "zmp_offset")
_VECTORS = ("dcm", "zmp_now", "dcm_offset", "swing_position", "swing_velocity", "leg_momentum", *_SOLE)
_LIMITS = ("reach", "acceleration", "speed")
_NUMBERS = ("frequency", "time_left", "shortest", "longest", "double_support", "swing_sign", "min_width", *_LIMITS)


def _function(compiler: Compiler) -> FlatFunction:
    """Return the equations of ``StepAdapter``, in and out in world, solved in the stance frame with y to the swing."""
    inputs = {name: cs.SX.sym(name, 2) for name in _VECTORS}
    inputs |= {name: cs.SX.sym(name, 3) for name in ("stance", "nominal")}
    inputs |= {name: cs.SX.sym(name) for name in _NUMBERS} | {"viable": cs.SX.sym("viable", 2, 2)}
    prepared = _Problem.of(inputs)
    parts = [getattr(prepared, entry.name) for entry in fields(prepared)]
    symbols = [*inputs.values()]
    prepare = cs.Function("prepare", symbols, [cs.vertcat(*map(cs.vec, parts))])
    constants = [cs.SX.sym("part", *part.shape) for part in parts]
    shared = cs.vertcat(*map(cs.vec, constants))
    problem, time, best = _Problem(*constants), cs.SX.sym("time"), cs.SX.sym("best", 4)
    better = cs.Function("better", [best, time, shared], [problem.better(best, time)])
    finish = cs.Function("finish", [best, shared], [*problem.adapted(best[1], best[2:])])

    given = {name: cs.MX.sym(name, *symbol.shape) for name, symbol in inputs.items()}
    known = prepare(*given.values())
    shortest, interval = given["shortest"], (given["longest"] - given["shortest"]) / (_TIMES - 1)
    chosen = better(cs.MX([math.inf, 0.0, 0.0, 0.0]), given["time_left"], known)
    for index in range(_TIMES):
        chosen = better(chosen, shortest + index * interval, known)
    coarse = chosen[1]
    for index in range(-_TIMES // 4, _TIMES // 4 + 1):
        time_left = coarse + index * interval / (_TIMES // 4 + 1)
        chosen = better(chosen, cs.fmin(cs.fmax(time_left, shortest), given["longest"]), known)
    adapted = dict(zip(("step", "balance"), finish(chosen, known), strict=True))
    return FlatFunction("step_adaptation", given, adapted, compiler)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """The problem in the stance frame, y towards the swinging foot."""

    to_local: cs.SX  # rotation from world, shape (2, 2)
    origin: cs.SX
    dcm: cs.SX
    zmp_now: cs.SX
    dcm_offset: cs.SX
    nominal: cs.SX
    point: cs.SX  # ZMP point of the landing sole from its frame
    width: cs.SX  # least lateral distance of the landing in line with the stance sole
    widening: cs.SX  # of it for each metre ahead or back, of feet that are turned
    lower: cs.SX  # corners of the stance sole, less its margin
    upper: cs.SX
    viable: cs.SX  # least and largest DCM from the landed sole, columns
    swing_position: cs.SX
    swing_velocity: cs.SX
    frequency: cs.SX
    double_support: cs.SX
    time_left: cs.SX
    leg_momentum: cs.SX
    reach: cs.SX
    acceleration: cs.SX
    speed: cs.SX

    @classmethod
    def of(cls, inputs: Mapping[str, cs.SX]) -> _Problem:
        origin, sign = inputs["stance"][:2], inputs["swing_sign"]
        c, s = cs.cos(inputs["stance"][2]), cs.sin(inputs["stance"][2])
        to_local = cs.vertcat(cs.horzcat(c, s), cs.horzcat(-sign * s, sign * c))
        lower = cs.vertcat(inputs["sole_x"][0], -inputs["sole_y"][1])
        upper = cs.vertcat(inputs["sole_x"][1], -inputs["sole_y"][0])
        turn = sign * (inputs["nominal"][2] - inputs["stance"][2])
        c, s = cs.cos(turn), cs.sin(turn)
        ox, oy = inputs["zmp_offset"][0], inputs["zmp_offset"][1]
        viable = inputs["viable"]
        return cls(
            to_local=to_local,
            origin=origin,
            dcm=to_local @ (inputs["dcm"] - origin),
            zmp_now=_clip(to_local @ (inputs["zmp_now"] - origin), lower, upper),
            dcm_offset=to_local @ inputs["dcm_offset"],
            nominal=to_local @ (inputs["nominal"][:2] - origin),
            point=cs.vertcat(c * ox - s * oy, s * ox + c * oy),
            width=inputs["min_width"] / cs.cos(0.5 * turn),
            widening=cs.fabs(cs.tan(0.5 * turn)),
            lower=lower,
            upper=upper,
            viable=cs.vertcat(viable[:, 0].T, cs.horzcat(-viable[1, 1], -viable[0, 1])),
            swing_position=to_local @ (inputs["swing_position"] - origin),
            swing_velocity=to_local @ inputs["swing_velocity"],
            **{name: inputs[name] for name in ("frequency", "double_support", "time_left", "leg_momentum", *_LIMITS)},
        )

    def growths(self, time: cs.SX) -> tuple[cs.SX, cs.SX, cs.SX]:
        """Return E, a_n and a_c."""
        zeta, rest = self.frequency, time + 0.5 * self.double_support
        growth, rate = cs.exp(zeta * rest), zeta + 1.0 / ZMP_LAG
        now = zeta * growth * (1.0 - cs.exp(-rate * rest)) / rate
        return growth, now, growth - 1.0 - now

    def drift(self, time: cs.SX) -> tuple[cs.SX, cs.SX]:
        """Return by how much the offset misses the nominal one, of a ZMP and a landing at zero, and a metre's part."""
        growth, now, _ = self.growths(time)
        zeta, decay = self.frequency, cs.exp(-self.frequency * time)
        i_0 = (1.0 - decay) / zeta
        i_1 = (i_0 - time * decay) / zeta
        w_p = 6.0 * zeta * growth * (i_0 * time - 2.0 * i_1) / time**3
        w_v = 2.0 * zeta * growth * (3.0 * i_1 - 2.0 * i_0 * time) / time**2
        legs = self.leg_momentum * (w_v * self.swing_velocity - w_p * self.swing_position)
        return (
            growth * self.dcm - now * self.zmp_now + legs - self.point - self.dcm_offset,
            1.0 - w_p * self.leg_momentum,
        )

    def better(self, best: cs.SX, time: cs.SX) -> cs.SX:
        """Return the better one of a candidate and those at one time: cost, T and the landing sole."""
        (_, _, commanded), (drift, metre) = self.growths(time), self.drift(time)
        lowest, highest = drift - commanded * self.upper, drift - commanded * self.lower
        wanted = self._least(lowest, highest, metre)
        swing = self._swing_reach(time)
        for landing in self._reached(_clip(wanted, *swing)):
            error = _clip(metre * landing, lowest, highest) - metre * landing
            offset = self.point + self.dcm_offset + error
            cost = (
                STEP_WEIGHT * cs.sumsqr(landing - self.nominal)
                + OFFSET_WEIGHT * cs.sumsqr(error)
                + TIME_WEIGHT * (time - self.time_left) ** 2
                + _LOSS_WEIGHT * cs.sumsqr(offset - _clip(offset, self.viable[:, 0], self.viable[:, 1]))
                + _CONTRADICTION * cs.sumsqr(landing - _clip(landing, *swing))
            )
            best = cs.if_else(cost < best[0], cs.vertcat(cost, time, landing), best)
        return best

    def _least(self, lowest: cs.SX, highest: cs.SX, metre: cs.SX) -> cs.SX:
        """Return the landing with the nominal offset; the less a metre of it counts, the nearer to the nominal one."""
        part = cs.fmax(metre, 0.0)
        nearest, kept = _clip(part * self.nominal, lowest, highest), STEP_WEIGHT * (1.0 - part)
        return (kept * self.nominal + OFFSET_WEIGHT * part * nearest) / (kept + OFFSET_WEIGHT * part**2)

    def adapted(self, time: cs.SX, landing: cs.SX) -> tuple[cs.SX, cs.SX]:
        """Return landing and T, then ZMP, offset and its error, in world."""
        (_, _, commanded), (drift, metre) = self.growths(time), self.drift(time)
        left = drift - metre * landing
        zmp = _clip(left / commanded, self.lower, self.upper)
        error = left - commanded * zmp
        to_world = self.to_local.T
        place, zmp = self.origin + to_world @ landing, self.origin + to_world @ zmp
        return cs.vertcat(place, time), cs.vertcat(zmp, to_world @ (self.dcm_offset + error), to_world @ error)

    def _reached(self, landing: cs.SX) -> list[cs.SX]:
        """Return the landing moved within reach of the stance sole: along x, along y, and towards the stance sole."""
        x, y = _clip(landing[0], -self.reach, self.reach), landing[1]
        ray = landing * cs.fmin(1.0, self.reach / (cs.sqrt(cs.sumsqr(landing)) + _TINY))
        return [self._beside(*place) for place in ((x, y), (x, cs.fmin(y, self._room(x))), (ray[0], ray[1]))]

    def _beside(self, x: cs.SX, y: cs.SX) -> cs.SX:
        """Return a landing beside the stance sole, and within reach."""
        y = cs.fmin(cs.fmax(y, self.width + cs.fabs(x) * self.widening), self.reach)
        room = self._room(y)
        return cs.vertcat(_clip(x, -room, room), y)

    def _room(self, distance: cs.SX) -> cs.SX:
        """Return the reach along one axis, at a distance along the other one."""
        return cs.sqrt(cs.fmax(self.reach**2 - distance**2, 0.0))

    def _swing_reach(self, time: cs.SX) -> tuple[cs.SX, cs.SX]:
        """Return the corners of what the swinging sole reaches at rest in ``time``."""
        p, v = self.swing_position, self.swing_velocity
        push, way = self.acceleration * time**2 / 6.0, self.speed * time / 1.5
        lower = cs.fmax(cs.fmax(4.0 / 6.0 * v * time, 2.0 / 6.0 * v * time) - push, -way)
        upper = cs.fmin(cs.fmin(4.0 / 6.0 * v * time, 2.0 / 6.0 * v * time) + push, way)
        middle, is_empty = 0.5 * (lower + upper), lower > upper
        return p + cs.if_else(is_empty, middle, lower), p + cs.if_else(is_empty, middle, upper)


def _clip(value: cs.SX, lower: cs.SX, upper: cs.SX) -> cs.SX:
    return cs.fmin(cs.fmax(value, lower), upper)
