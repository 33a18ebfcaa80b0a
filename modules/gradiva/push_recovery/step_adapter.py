r"""Step adaptation: where and when the swinging foot lands so that the DCM ends where the walk goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol

import casadi as cs
import numpy as np

from gradiva.common import NDArray, PlanarPose, Side, SoleRectangle, configuration, setting
from gradiva.planner import PlannerConfig
from gradiva.robot_model import Compiler, FlatFunction, built_once, interpreted

RELEASE_ERROR = 0.008  # [m] of the DCM error, below which the footholds are the plan's again
SHORTEST_SUPPORT = 0.45  # [s] single support; the swing sole lags behind in shorter ones
LONGEST_SUPPORT = 1.25  # [-] of the planned single support
SOLE_MARGIN = 0.005  # [m] kept by the ZMP from the edges of the stance sole
ZMP_LAG = 0.04  # [s] T_z, of the ZMP behind the commanded one


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
        clearance: Height of a sole that comes down, below which its landing stays, [m]; 0: it does not stay.
        ankle_strategy: Whether the step stays as planned while a push over the foot that stands alone leaves the DCM
            within its sole.
        last_free_delay: Part of the planned single support after which touch-down is not delayed, [-], where the robot
            does not tilt onto the foot that comes down.
        reach: Largest distance of the feet after an adapted step, as a part of the planner's, [-].
        longest_wait: Delay of a lift-off at most, [s].
        tipping_margin: Distance of the ZMP from toe and heel of the stance sole, while landings are chosen, [m].
        rise_gain: Part of a tipped stance sole's rise by which the ground counts as lower, [-].
        landed_rise_gain: The same for a foot that has just landed, [-].
        laws: Tables of step adaptations of other packages, by name.
    """

    mode: SteppingMode
    law: str
    trigger: float = setting("m", least=RELEASE_ERROR, why="an error below it releases")
    lateness: float = setting("s", least=0.0)
    clearance: float = setting("m", least=0.0)
    ankle_strategy: bool
    last_free_delay: float = setting("-", above=0.0, most=1.0)
    reach: float = setting("-", above=0.0)
    longest_wait: float = setting("s", least=0.0)
    tipping_margin: float = setting("m", least=0.0)
    rise_gain: float = setting("-", least=0.0, most=1.0)
    landed_rise_gain: float = setting("-", least=0.0, most=1.0)
    laws: Mapping[str, Any]


def shortest_single_support(limits: PlannerConfig) -> float:
    """Return the shortest single support, [s], also within the limits of the planner."""
    return max(SHORTEST_SUPPORT, limits.single_support(limits.min_step_duration))


def legs_of(config: StepAdaptationConfig, limits: PlannerConfig) -> tuple[float, float]:
    """Return the largest distance of the sole frames and the least lateral one, [m]."""
    return config.reach * limits.max_feet_distance, max(limits.min_step_width, limits.min_feet_distance)


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
        dcm_age: Time by which ``dcm_position`` is old, over which its error is predicted, [s].
        planned_dcm: From which that error is counted, [m], shape (2,); None where the age is 0.
        planned_velocity: Of the planned DCM, [m/s], shape (2,); likewise.
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
    dcm_age: float = 0.0
    planned_dcm: NDArray | None = None
    planned_velocity: NDArray | None = None


@dataclass(slots=True, eq=False)
class AdaptedStep:
    """Landing that step adaptation chose; world.

    Attributes:
        x: Of the swinging sole, [m].
        y: [m].
        yaw: [rad].
        time_left: To touch-down, [s].
        balance: ZMP, offset of the DCM and its error, [m], shape (6,).
    """

    x: float
    y: float
    yaw: float
    time_left: float
    balance: NDArray

    @property
    def landing(self) -> PlanarPose:
        """Landing of the swinging sole."""
        return PlanarPose(self.x, self.y, self.yaw)

    @property
    def zmp_position(self) -> NDArray:
        """Constant ZMP until touch-down, within the stance sole, [m], shape (2,)."""
        return self.balance[:2]

    @property
    def dcm_offset(self) -> NDArray:
        """DCM less the ZMP point of the landing foot, in the middle of the double support, [m], shape (2,)."""
        return self.balance[2:4]

    @property
    def offset_error(self) -> NDArray:
        """The same less the nominal one, [m], shape (2,)."""
        return self.balance[4:]


class StepLaw(Protocol):
    """Chooses a landing for a running step.

    Attributes:
        config: Settings of step adaptation.
        sole: Of the left foot.
    """

    config: StepAdaptationConfig
    sole: SoleRectangle

    def adapt(self, step: RunningStep) -> AdaptedStep:
        """Return the landing of least cost."""


class StepAdapter:
    r"""Chooses place and time of the next touch-down and the ZMP until then.

    From now to the middle of the double support after touch-down the DCM obeys

    .. math:: z + \gamma\tau (\xi - z) = u + b, \qquad \gamma = e^{\zeta T_d / 2}, \quad \tau = e^{\zeta T}

    with the ZMP :math:`z` in the stance sole and the boundary between the two feet in the middle of the double support,
    where the plan has it. Single support alone, :math:`\gamma = 1` and z given, is the linear problem in
    :math:`(u, b, \tau)` of Khadiv et al. (IEEE T-RO 2020, "Walking control based on step timing adaptation"); ankle
    and step together are those of Griffin et al. (IROS 2017) and Shafiee et al. (Humanoids 2019). With z free the
    product :math:`z \tau` is bilinear; for each :math:`T` the problem is convex.

    A ZMP that follows with the time constant :math:`T_z` from :math:`z_0` moves the DCM as
    :math:`z + \kappa (z_0 - z)` would beyond the first moment, :math:`\kappa = \zeta T_z / (1 + \zeta T_z)`:

    .. math:: u + b = \gamma\tau \xi - \eta z - \kappa \gamma\tau z_0, \qquad \eta = (1 - \kappa) \gamma\tau - 1

    A measured DCM that is old by :math:`T_a` is predicted first, as its error from the planned one grows on a pendulum,
    with a ZMP that is at most half a sole off the planned one:

    .. math:: \xi = \xi_m + T_a \zeta (e - (z_0 - z_r)), \qquad e = \xi_m - \xi_r, \quad
              z_r = \xi_r - \dot\xi_r / \zeta

    Variables: :math:`u` (ZMP point of the landing foot), :math:`z`, :math:`b`, :math:`T`.

    Objective: :math:`w_u |u - u_n|^2 + w_b |b - b_n|^2 + w_T (T - T_n)^2`, :math:`w_b \gg w_u`.

    Constraints: z in the stance sole less its margins; T within its limits; the landing sole within reach of the stance
    sole and beside it (``reach``, ``min_width`` in the mean direction of the feet: legs do not cross); a cubic from
    the swing's position and velocity to rest at the landing in T with at most the acceleration A at both ends and
    the mean speed V / 1.5.

    For each of ``_TIMES`` values of T, z over the sole leaves an interval of u per axis in which b is met; u is the
    point of it nearest to :math:`u_n` (the ankle first), moved into the limits; the remaining distance is the error of
    b. The least cost wins. There is always an answer; where the limits of the swing contradict those of the legs, the
    legs' hold.

    ==================  ==========================================  =====
    Symbol              Name                                        Unit
    ==================  ==========================================  =====
    :math:`\xi_m`       ``dcm_position``                            m
    :math:`\xi_r`       ``planned_dcm``, ``_velocity``              m, m/s
    :math:`T_a`         ``dcm_age``                                 s
    :math:`z_0`         ``zmp_position``                            m
    :math:`b_n`         ``dcm_offset``                              m
    :math:`\zeta`       ``natural_frequency``                       rad/s
    :math:`T_n`         ``time_left``                               s
    :math:`T_d`         ``double_support``                          s
    :math:`T_z`         ``ZMP_LAG``                                 s
    :math:`A`, V        ``SWING_ACCELERATION``, ``_SPEED``          m/s², m/s
    ==================  ==========================================  =====
    """

    def __init__(
        self,
        config: StepAdaptationConfig,
        sole: SoleRectangle,
        zmp_offset: tuple[float, float],
        reach: float,
        min_width: float,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the constants; ``config`` and ``sole`` may be read back.

        Args:
            config: Margin of the sole from toe and heel.
            sole: Of the left foot.
            zmp_offset: Nominal ZMP in the frame of the left foot, mirrored for the right one, [m].
            reach: Largest distance of the two sole frames, [m].
            min_width: Least lateral distance of the sole frames, [m].
            compiler: How the equations become fast.
        """
        self.config, self.sole = config, sole
        self._function = built_once((_function, compiler), lambda: _function(compiler))
        self._function.set(
            sole_x=np.add(sole.x, (config.tipping_margin, -config.tipping_margin)),
            sole_y=np.add(sole.y, (SOLE_MARGIN, -SOLE_MARGIN)),
            zmp_offset=zmp_offset,
            reach=reach,
            min_width=min_width,
        )
        self._constants: tuple[object, ...] = ()

    def adapt(self, step: RunningStep) -> AdaptedStep:
        """Return the landing of least cost."""
        constants = (
            step.stance,
            step.landing,
            step.side,
            step.natural_frequency,
            step.double_support,
            step.dcm_age,
            *step.dcm_offset.tolist(),
        )
        if constants != self._constants:  # once a step: a tick writes the rest alone
            self._constants = constants
            self._begin(step)
        function = self._function
        function.write(
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
        if step.dcm_age and step.planned_dcm is not None and step.planned_velocity is not None:
            function.write({"planned_dcm": step.planned_dcm, "planned_velocity": step.planned_velocity})
        outputs = function()
        x, y, time_left = outputs["step"].tolist()
        return AdaptedStep(x, y, step.landing.yaw, time_left, outputs["balance"].copy())

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
            dcm_age=step.dcm_age,
        )


_TIMES = 16  # values of T between its limits
STEP_WEIGHT = 1.0  # [-] w_u, on the change of the foothold
OFFSET_WEIGHT = 1000.0  # [-] w_b, on the error of the DCM at touch-down: as good as a constraint
_TIME_WEIGHT = 0.2  # [m²/s²] w_T, on the change of the time to touch-down
SWING_ACCELERATION = 12.0  # [m/s²] that servos follow within centimetres; 24 lands in 0.2 s and falls
SWING_SPEED = 2.4  # [m/s]
_HALF_SOLE = 0.05  # [m] no ZMP of a foot that stands alone is farther from its reference
_CONTRADICTION = 1e3  # weight of a landing that the swing cannot reach
_STATE = ("dcm", "zmp_now", "dcm_offset", "swing_position", "swing_velocity", "planned_dcm", "planned_velocity")
_VECTORS = (*_STATE, "sole_x", "sole_y", "zmp_offset")
_TIMING = ("frequency", "dcm_age", "time_left", "shortest", "longest", "double_support")
_NUMBERS = (*_TIMING, "swing_sign", "reach", "min_width")


def _function(compiler: Compiler) -> FlatFunction:
    """Return the equations of ``StepAdapter``, in and out in world, solved in the stance frame with y to the swing.

    The values of T share the code of one: unrolled, it leaves the caches between two ticks, and costs ten times as
    much as it computes.
    """
    inputs = {name: cs.SX.sym(name, 2) for name in _VECTORS}
    inputs |= {name: cs.SX.sym(name, 3) for name in ("stance", "nominal")}
    inputs |= {name: cs.SX.sym(name) for name in _NUMBERS}
    symbols = [*inputs.values()]
    local = _Local.of(inputs)
    parts = [getattr(local, entry.name) for entry in fields(local)]
    prepare = cs.Function("prepare", symbols, [cs.vertcat(*parts)])
    constants = [cs.SX.sym("part", part.numel()) for part in parts]
    shared = [cs.vertcat(*constants), cs.vertcat(*symbols)]
    local, time, best = _Local(*constants), cs.SX.sym("time"), cs.SX.sym("best", 4)
    better = cs.Function("better", [best, time, *shared], [_better(best, local.candidate(time, inputs))])
    finish = cs.Function("finish", [best, *shared], [*local.adapted(best[1], best[2:], inputs)])

    given = {name: cs.MX.sym(name, symbol.numel()) for name, symbol in inputs.items()}
    shortest, interval = given["shortest"], (given["longest"] - given["shortest"]) / (_TIMES - 1)
    times = [given["time_left"], *(shortest + index * interval for index in range(_TIMES))]
    arguments = prepare(*given.values()), cs.vertcat(*given.values())
    chosen = cs.MX([math.inf, 0.0, 0.0, 0.0])
    for each in times:
        chosen = better(chosen, each, *arguments)
    adapted = dict(zip(("step", "balance"), finish(chosen, *arguments), strict=True))
    return FlatFunction("step_adaptation", given, adapted, compiler)


def _better(one: cs.SX, other: cs.SX) -> cs.SX:
    """Return the better one of two candidates: cost, T and the landing sole."""
    return cs.if_else(other[0] < one[0], other, one)


@dataclass(frozen=True, slots=True, eq=False)
class _Local:
    """The problem in the stance frame, y towards the swinging foot."""

    to_local: cs.SX  # columns of the rotation from world, shape (4,)
    dcm: cs.SX
    zmp_now: cs.SX
    dcm_offset: cs.SX
    nominal: cs.SX
    point: cs.SX  # ZMP point of the landing sole from its frame
    width: cs.SX  # least lateral distance of the landing in line with the stance sole
    widening: cs.SX  # of it for each metre ahead or back, of feet that are turned
    lag: cs.SX  # κ
    lower: cs.SX  # corners of the stance sole, less its margin
    upper: cs.SX
    swing_position: cs.SX
    swing_velocity: cs.SX

    @classmethod
    def of(cls, inputs: Mapping[str, cs.SX]) -> _Local:
        origin, sign = inputs["stance"][:2], inputs["swing_sign"]
        c, s = cs.cos(inputs["stance"][2]), cs.sin(inputs["stance"][2])
        to_local = cs.vertcat(cs.horzcat(c, s), cs.horzcat(-sign * s, sign * c))
        lower = cs.vertcat(inputs["sole_x"][0], -inputs["sole_y"][1])
        upper = cs.vertcat(inputs["sole_x"][1], -inputs["sole_y"][0])
        turn = sign * (inputs["nominal"][2] - inputs["stance"][2])
        lag = inputs["frequency"] * ZMP_LAG
        c, s = cs.cos(turn), cs.sin(turn)
        ox, oy = inputs["zmp_offset"][0], inputs["zmp_offset"][1]
        return cls(
            to_local=cs.vec(to_local),
            dcm=to_local @ (_predicted(inputs) - origin),
            zmp_now=_clip(to_local @ (inputs["zmp_now"] - origin), lower, upper),
            dcm_offset=to_local @ inputs["dcm_offset"],
            nominal=to_local @ (inputs["nominal"][:2] - origin),
            point=cs.vertcat(c * ox - s * oy, s * ox + c * oy),
            width=inputs["min_width"] / cs.cos(0.5 * turn),
            widening=cs.fabs(cs.tan(0.5 * turn)),
            lag=lag / (1.0 + lag),
            lower=lower,
            upper=upper,
            swing_position=to_local @ (inputs["swing_position"] - origin),
            swing_velocity=to_local @ inputs["swing_velocity"],
        )

    @staticmethod
    def growth(time: cs.SX, inputs: Mapping[str, cs.SX]) -> cs.SX:
        """Return γτ."""
        return cs.exp(inputs["frequency"] * (time + 0.5 * inputs["double_support"]))

    def candidate(self, time: cs.SX, inputs: Mapping[str, cs.SX]) -> cs.SX:
        """Return cost, T and the best landing at one time."""
        growth = self.growth(time, inputs)
        eta = (1.0 - self.lag) * growth - 1.0
        drift = growth * (self.dcm - self.lag * self.zmp_now) - self.dcm_offset - self.point
        lowest, highest = drift - eta * self.upper, drift - eta * self.lower
        landing, beyond = self._within_limits(_clip(self.nominal, lowest, highest), time, inputs)
        error = landing - _clip(landing, lowest, highest)
        cost = (
            STEP_WEIGHT * cs.sumsqr(landing - self.nominal)
            + OFFSET_WEIGHT * cs.sumsqr(error)
            + _TIME_WEIGHT * (time - inputs["time_left"]) ** 2
            + _CONTRADICTION * beyond
        )
        return cs.vertcat(cost, time, landing)

    def adapted(self, time: cs.SX, landing: cs.SX, inputs: Mapping[str, cs.SX]) -> tuple[cs.SX, cs.SX]:
        """Return landing and T, then ZMP, offset and its error, in world."""
        to_world, origin = cs.reshape(self.to_local, 2, 2).T, inputs["stance"][:2]
        zmp, offset = self.ankle(self.growth(time, inputs), landing)
        offset = to_world @ offset
        place, zmp = origin + to_world @ landing, origin + to_world @ zmp
        return cs.vertcat(place, time), cs.vertcat(zmp, offset, offset - inputs["dcm_offset"])

    def ankle(self, growth: cs.SX, landing: cs.SX) -> tuple[cs.SX, cs.SX]:
        """Return the ZMP that meets the offset best, and the offset that it leaves."""
        eta = (1.0 - self.lag) * growth - 1.0
        drift = growth * (self.dcm - self.lag * self.zmp_now) - self.point - landing
        zmp = _clip((drift - self.dcm_offset) / eta, self.lower, self.upper)
        return zmp, drift - eta * zmp

    def _within_limits(self, wanted: cs.SX, time: cs.SX, inputs: Mapping[str, cs.SX]) -> tuple[cs.SX, cs.SX]:
        """Return the landing moved into what the swing and the legs reach, and the swing's squared violation."""
        lower, upper = self._swing_reach(time, inputs)
        landing = _clip(wanted, lower, upper)
        reach, x = inputs["reach"], cs.fabs(_clip(landing[0], -inputs["reach"], inputs["reach"]))
        width = self.width + x * self.widening
        y = cs.fmin(cs.fmax(landing[1], width), reach)
        nearest_x = cs.fmin(cs.fmax(0.0, lower[0]), upper[0])  # of what the swing reaches, to the stance sole
        nearest_y = cs.fmax(cs.fmin(cs.fmax(0.0, lower[1]), upper[1]), width)
        landing = _within_reach(cs.vertcat(landing[0], y), nearest_x, nearest_y, width, reach)
        return landing, cs.sumsqr(landing - _clip(landing, lower, upper))

    def _swing_reach(self, time: cs.SX, inputs: Mapping[str, cs.SX]) -> tuple[cs.SX, cs.SX]:
        """Return the corners of what the swinging sole reaches at rest in ``time``."""
        p, v = self.swing_position, self.swing_velocity
        push = SWING_ACCELERATION * time**2 / 6.0
        way = SWING_SPEED * time / 1.5
        lower = cs.fmax(cs.fmax(4.0 / 6.0 * v * time, 2.0 / 6.0 * v * time) - push, -way)
        upper = cs.fmin(cs.fmin(4.0 / 6.0 * v * time, 2.0 / 6.0 * v * time) + push, way)
        middle = 0.5 * (lower + upper)
        is_empty = lower > upper
        return p + cs.if_else(is_empty, middle, lower), p + cs.if_else(is_empty, middle, upper)


def _predicted(inputs: Mapping[str, cs.SX]) -> cs.SX:
    """Return the DCM after the time by which the measured one is old."""
    error, zeta = inputs["dcm"] - inputs["planned_dcm"], inputs["frequency"]
    planned_zmp = inputs["planned_dcm"] - inputs["planned_velocity"] / zeta
    zmp_error = cs.fmin(cs.fmax(inputs["zmp_now"] - planned_zmp, -_HALF_SOLE), _HALF_SOLE)
    return inputs["dcm"] + inputs["dcm_age"] * zeta * (error - zmp_error)


def _clip(value: cs.SX, lower: cs.SX, upper: cs.SX) -> cs.SX:
    return cs.fmin(cs.fmax(value, lower), upper)


def _within_reach(landing: cs.SX, nearest_x: cs.SX, nearest_y: cs.SX, width: cs.SX, reach: cs.SX) -> cs.SX:
    """Return the nearest landing within reach of the stance sole, at its origin.

    It lies on the ray to the origin, or, where a component would leave what the swing reaches, on that bound. Where the
    swing reaches none, the legs' limits hold.
    """
    distance = cs.sqrt(cs.sumsqr(landing)) + _TINY
    ray = landing * cs.fmin(1.0, reach / distance)
    x_is_bound, y_is_bound = cs.fabs(ray[0]) < cs.fabs(nearest_x), ray[1] < nearest_y
    other_y = cs.sqrt(cs.fmax(reach**2 - nearest_x**2, 0.0))
    other_x = cs.sqrt(cs.fmax(reach**2 - nearest_y**2, 0.0)) * cs.sign(landing[0])
    x = cs.if_else(x_is_bound, nearest_x, cs.if_else(y_is_bound, other_x, ray[0]))
    y = cs.if_else(x_is_bound, cs.fmax(other_y, nearest_y), cs.if_else(y_is_bound, nearest_y, ray[1]))
    y = cs.fmin(cs.fmax(y, width), reach)
    room = cs.sqrt(cs.fmax(reach**2 - y**2, 0.0))
    moved = cs.vertcat(_clip(x, -room, room), y)
    return cs.if_else(distance <= reach, landing, moved)


_TINY = 1e-12  # [m]
