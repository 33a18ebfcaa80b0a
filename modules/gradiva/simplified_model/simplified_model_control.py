"""Simplified model control, the shipped layer 2: a DCM law for the ZMP, and the ZMP-CoM law that follows it.

The instantaneous law keeps the divergent component of motion (DCM) on its reference; any `DcmLaw` can take its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, RobotState, configuration, minimum_jerk, plugin_errors, setting
from gradiva.contacts import SupportPolygon
from gradiva.robot_model import (
    Compiler,
    ConfiguredRobot,
    FlatFunction,
    RobotDescription,
    built_once,
    configured,
    interpreted,
)
from gradiva.simplified_model.balance_layer import (
    BalanceLayer,
    BalanceMemory,
    BalancePlan,
    BalanceReference,
    DcmLaw,
    Equations,
    GainProgress,
    LawMemory,
    PendulumState,
)

_EDGES = 8  # of the hull of two rectangles at most
_TINY = 1e-300  # [m·s] an integral of zero is bounded as well


@configuration
class DcmControllerConfig:
    """Gains and limits of the instantaneous law.

    Attributes:
        proportional_gain: K_p, the error decays at rate σ (K_p − 1), [-].
        integral_gain: K_i, [1/s].
        integral_limit: Bound on the norm of the error's integral, [m·s].
        polygon_margin: Distance that the desired ZMP keeps from the edge of the support polygon, [m].

    Raises:
        ConfigError: A gain with which the error does not decay, a negative limit or margin.
    """

    proportional_gain: float = setting("-", above=1.0, why="else the DCM error does not decay", live=(1.02, 3.0))
    integral_gain: float = setting("1/s", least=0.0, live=(0.0, 1.0))
    integral_limit: float = setting("m·s", least=0.0)
    polygon_margin: float = setting("m", least=0.0)


class DcmController(DcmLaw):
    r"""Instantaneous control of the divergent component of motion (thesis 10.2.17, 7.3.1).

    .. math:: z^* = \Pi_{\mathcal P}\left[ \xi_r - \dot\xi_r / \sigma
        + K_p (\xi - \xi_r) + K_i \int (\xi - \xi_r)\, dt \right]

    =======================  ==================================  =====
    Symbol                   Name                                Unit
    =======================  ==================================  =====
    :math:`\xi`              ``state.dcm_position``              m
    :math:`\xi_r`            ``reference.position``              m
    :math:`\dot\xi_r`        ``reference.velocity``              m/s
    :math:`\sigma`           ``reference.divergence_rate``       rad/s
    :math:`K_p`              ``config.proportional_gain``        -
    :math:`K_i`              ``config.integral_gain``            1/s
    :math:`\mathcal P`       ``polygon``, shrunk by the margin
    =======================  ==================================  =====

    Inside the polygon the error decays as :math:`\dot e = -\sigma (K_p - 1) e - \sigma K_i \int e`.
    Anti-windup: the integral is bounded, and does not grow while the ZMP is held at the polygon's edge.
    """

    Config = DcmControllerConfig
    table = "dcm_controller"

    def __init__(self, config: DcmControllerConfig | ConfiguredRobot, robot: RobotDescription | None = None) -> None:
        """Take gains and limits, or a robot that brings them."""
        self._config = configured(DcmControllerConfig, config, self.table)
        self._whole_polygon: SupportPolygon | None = None

    @classmethod
    def equations(cls) -> Equations:
        """Return the law as expressions, its inputs and outputs named as above; see ``DcmLaw.equations``."""
        names = ("period", "divergence_rate", "proportional_gain", "integral_gain", "integral_limit")
        inputs = {name: cs.SX.sym(name) for name in names}
        for name in ("dcm_position", "dcm_reference", "dcm_velocity_reference", "dcm_integral"):
            inputs[name] = cs.SX.sym(name, 2)
        inputs |= {name: cs.SX.sym(f"edge_{name}", _EDGES, 2) for name in ("starts", "ends", "normals")}
        inputs["offsets"] = cs.SX.sym("edge_offsets", _EDGES)
        error, last = inputs["dcm_position"] - inputs["dcm_reference"], inputs["dcm_integral"]
        feedforward = inputs["dcm_reference"] - inputs["dcm_velocity_reference"] / inputs["divergence_rate"]

        def unbounded(integral: cs.SX) -> cs.SX:
            return feedforward + inputs["proportional_gain"] * error + inputs["integral_gain"] * integral

        integral = last + error * inputs["period"]
        integral = integral * cs.fmin(1.0, inputs["integral_limit"] / cs.fmax(cs.norm_2(integral), _TINY))
        is_winding_up = cs.logic_and(cs.norm_2(integral) > cs.norm_2(last), _depth(unbounded(integral), inputs) > 0.0)
        integral = cs.if_else(is_winding_up, last, integral)
        zmp = unbounded(integral)
        return inputs, {"zmp": _projected(zmp, inputs), "unbounded_zmp": zmp, "dcm_integral": integral}

    def attach(self, function: FlatFunction) -> None:
        """See ``DcmLaw.attach``; the integral is kept in the inputs."""
        super().attach(function)
        function.set(dcm_integral=0.0)
        self.tune(self._config)
        self._whole_polygon = None

    def tune(self, config: DcmControllerConfig) -> None:
        """Take other gains; the integral goes on."""
        self._config = config
        self.function.set(
            proportional_gain=config.proportional_gain,
            integral_gain=config.integral_gain,
            integral_limit=config.integral_limit,
        )

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``: the integral of the error."""
        return LawMemory(self.function.inputs["dcm_integral"].copy())

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self.function.set(dcm_integral=memory.dcm_integral)

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self.function.set(dcm_integral=0.0)

    def write(self, state: RobotState | PendulumState, plan: BalancePlan) -> None:
        """See ``DcmLaw.write``.

        Raises:
            ConfigError: The margin leaves nothing of the polygon.
        """
        function, reference = self._function, plan.reference.dcm
        if plan.polygon is not self._whole_polygon:
            function.set(**_edges(self._inner(plan.polygon)))
            self._whole_polygon = plan.polygon
        function.set(
            dcm_position=state.dcm_position,
            dcm_reference=reference.position,
            dcm_velocity_reference=reference.velocity,
            divergence_rate=reference.divergence_rate,
        )

    def keep(self) -> None:
        """Keep the integral.

        Raises:
            ValueError: The DCM or its reference is not finite; the integral stays as it was.
        """
        function = self._function
        x, y = function.outputs["unbounded_zmp"].tolist()
        if not math.isfinite(x + y):
            raise ValueError("the DCM or its reference is not finite")
        function.inputs["dcm_integral"][...] = function.outputs["dcm_integral"]

    def _inner(self, polygon: SupportPolygon) -> SupportPolygon:
        try:
            return polygon.shrunk(self._config.polygon_margin)
        except ValueError as error:
            raise ConfigError(f"[dcm_controller] polygon_{error}") from None


def _depth(point: cs.SX, edges: dict[str, cs.SX]) -> cs.SX:
    """Return the largest signed distance from the edges' lines: positive outside, [m]."""
    return cs.mmax(edges["normals"] @ point - edges["offsets"])


def _projected(point: cs.SX, edges: dict[str, cs.SX]) -> cs.SX:
    """Return the nearest point of the polygon."""
    best, best_square = point, cs.SX(cs.inf)
    for edge in range(_EDGES):
        start, end = edges["starts"][edge, :].T, edges["ends"][edge, :].T
        along = end - start
        ratio = cs.dot(point - start, along) / cs.sumsqr(along)
        nearest = start + cs.fmin(1.0, cs.fmax(0.0, ratio)) * along
        square = cs.sumsqr(point - nearest)
        best = cs.if_else(square < best_square, nearest, best)
        best_square = cs.fmin(square, best_square)
    return cs.if_else(_depth(point, edges) <= 0.0, point, best)


def _edges(polygon: SupportPolygon) -> dict[str, NDArray]:
    """Return the edges of a polygon as inputs of the equations; the first one fills what is left."""
    count = len(polygon.offsets)
    if count > _EDGES:
        raise ConfigError(f"a support polygon of {count} edges; two soles have at most {_EDGES}")
    order = [*range(count), *(0,) * (_EDGES - count)]
    starts, ends = polygon.vertices, np.roll(polygon.vertices, -1, axis=0)
    edges = {"starts": starts, "ends": ends, "normals": polygon.normals, "offsets": polygon.offsets}
    return {name: values[order] for name, values in edges.items()}


# -- the ZMP-CoM law, and the layer -----------------------------------------------------------------------------------

Plane = TypeVar("Plane", NDArray, cs.SX)
"""Vectors on the ground plane, shape (2,): numbers or expressions."""

_OUTPUTS = ("com_position", "com_velocity", "com_acceleration", "zmp_position")
_LARGEST_RATIO = 3.0  # [-] walking with K_CoM / K_ZMP above it fell on every robot in simulation


def zmp_com_velocity(
    com_velocity_reference: Plane,
    com_position_reference: Plane,
    com_position: Plane,
    desired_zmp: Plane,
    measured_zmp: Plane,
    gains: tuple[Any, Any],
) -> Plane:
    r"""Return the CoM velocity of the ZMP-CoM controller: feedback of the ZMP and of the CoM (thesis 10.2.25).

    .. math:: \dot x^* = \dot x_r - K_{ZMP} (z^* - z) + K_{CoM} (x_r - x)

    The signs differ because the ZMP leads the CoM the other way: a CoM that accelerates forward pushes the
    ZMP backward. Arrays give an array, expressions an expression.

    Args:
        com_velocity_reference: :math:`\dot x_r`, world, [m/s], shape (2,), as all of these.
        com_position_reference: :math:`x_r`, [m].
        com_position: :math:`x`, [m].
        desired_zmp: :math:`z^*`, of the DCM law, [m].
        measured_zmp: :math:`z`, [m].
        gains: :math:`K_{ZMP}` and :math:`K_{CoM}`, [1/s].
    """
    zmp_gain, com_gain = gains
    return (
        com_velocity_reference
        - zmp_gain * (desired_zmp - measured_zmp)
        + com_gain * (com_position_reference - com_position)
    )


@configuration
class ZmpComGains:
    """Gains of the CoM velocity on the ZMP error and on the CoM error.

    Attributes:
        zmp: K_ZMP, [1/s].
        com: K_CoM, [1/s].

    Raises:
        ConfigError: A gain is negative or infinite.
    """

    zmp: float = setting("1/s", least=0.0, live=(0.0, 8.0))
    com: float = setting("1/s", least=0.0, live=(0.0, 12.0))

    def blended(self, other: ZmpComGains, ratio: float) -> ZmpComGains:
        """Return the gains at ``ratio`` of the way to ``other``: 0 is this set, 1 the other."""
        return ZmpComGains(self.zmp + ratio * (other.zmp - self.zmp), self.com + ratio * (other.com - self.com))


@dataclass(frozen=True, slots=True)
class ZmpComControllerConfig:
    """The gains of both situations; ``GainSchedule`` goes from one to the other.

    The literature asks K_ZMP < ζ < K_CoM. With position servos below, K_ZMP ≈ ζ and K_CoM ≤ ζ walk best, and
    K_CoM > 3 K_ZMP falls.

    Attributes:
        walking: While the plan walks.
        standing: While it stands.
    """

    walking: ZmpComGains
    standing: ZmpComGains

    def check_for_motion_servos(self) -> None:
        """Pass when the walking set can walk with servos of position or velocity; those of torque need no gains.

        Raises:
            ConfigError: It cannot.
        """
        if self.walking.zmp == 0.0:
            raise ConfigError("walking: zmp=0, a robot that does not answer to its ZMP falls")
        if self.walking.com > _LARGEST_RATIO * self.walking.zmp:
            raise ConfigError(
                f"walking: com={self.walking.com} is more than {_LARGEST_RATIO:g} times zmp={self.walking.zmp}, "
                "a robot with these gains falls"
            )


_BLEND_TIME = 0.1  # [s] between standing and walking; 0.01 to 0.5 walk alike


class GainSchedule:
    r"""Blend the gains between standing and walking.

    .. math:: K = (1 - r) K_{standing} + r K_{walking}, \qquad r = r_0 + (r_1 - r_0)\, s(t / T)

    with :math:`s` the minimum-jerk profile, :math:`T` the blend time, :math:`r_1` one while walking and zero
    while standing, and :math:`r_0` the ratio when the situation last changed: turning back half way is
    continuous.
    """

    def __init__(self, walking: ZmpComGains, standing: ZmpComGains, blend_time: float = _BLEND_TIME) -> None:
        """Take the gains of both situations, and T, [s]."""
        self._blend_time = blend_time
        self.tune(walking, standing)
        self.reset()

    def tune(self, walking: ZmpComGains, standing: ZmpComGains) -> None:
        """Take other gains of both situations; the blend between them goes on."""
        self._walking, self._standing = walking, standing
        self.are_off = not any((walking.zmp, walking.com, standing.zmp, standing.com))  # both: else nothing may jump
        self._blended: tuple[float, ZmpComGains] = math.nan, standing  # of no ratio yet

    def reset(self, *, is_walking: bool = False) -> None:
        """Take the gains of one situation at once."""
        self._is_walking = is_walking
        self._start = self._ratio = float(is_walking)
        self._elapsed = math.inf

    @property
    def progress(self) -> GainProgress:
        """State of the schedule; `resume` goes on from there."""
        return GainProgress(self._is_walking, self._start, self._ratio, min(self._elapsed, self._blend_time))

    def resume(self, progress: GainProgress) -> None:
        """Go on from the ``progress`` of a schedule with the same blend time."""
        self._is_walking, self._start = progress.is_walking, progress.start
        self._ratio, self._elapsed = progress.ratio, progress.elapsed

    def update(self, is_walking: bool, dt: float) -> ZmpComGains:
        """Advance by ``dt`` [s] towards the set of the situation and return the gains."""
        if is_walking != self._is_walking:
            self._is_walking, self._start, self._elapsed = is_walking, self._ratio, 0.0
        self._elapsed += dt
        self._ratio = float(is_walking)
        if self._elapsed < self._blend_time:
            progress = min(minimum_jerk(self._elapsed / self._blend_time)[0], 1.0)  # which rounding may pass
            self._ratio = self._start + (self._ratio - self._start) * progress
        if self._blended[0] != self._ratio:
            self._blended = self._ratio, self._standing.blended(self._walking, self._ratio)
        return self._blended[1]


class SimplifiedModelControl(BalanceLayer):
    """Layer 2 by the linear inverted pendulum: DCM law, ZMP-CoM law and gain schedule (thesis 10.2.3).

    The desired ZMP of the DCM law is followed by the CoM velocity of the ZMP-CoM law, which is integrated to the
    commanded CoM; without gains, by torque, that is the planned one, which adapted steps restart. So is the height.
    """

    def __init__(self, dcm_law: DcmLaw, gains: GainSchedule, compiler: Compiler = interpreted) -> None:
        """Build the equations.

        Args:
            dcm_law: Chooses the ZMP: by equations, which become part of those of the layer, or by its method.
            gains: Of the ZMP-CoM law.
            compiler: How the equations become fast.
        """
        self._dcm_law = dcm_law
        self._gains = gains
        self._compiled_law = dcm_law if dcm_law.states_equations else None
        kind = type(dcm_law) if dcm_law.states_equations else None
        self._function = built_once((balance_function, kind, compiler), lambda: balance_function(kind, compiler))
        if self._compiled_law is not None:
            self._compiled_law.attach(self._function)
        self._reference = self._function.maker(BalanceReference, _OUTPUTS)
        self._has_begun = False

    @property
    def failures(self) -> int:  # type: ignore[override]
        """See ``BalanceLayer.failures``: those of the DCM law."""
        return getattr(self._dcm_law, "failures", 0)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return those of the DCM law."""
        return self._dcm_law.signals()

    def tune(self, config: Any) -> None:
        """See ``BalanceLayer.tune``: gains of the ZMP-CoM law and of the DCM law."""
        gains = config.zmp_com_controller
        self._gains.tune(gains.walking, gains.standing)
        self._dcm_law.tune(config.law)

    @property
    def memory(self) -> BalanceMemory | None:
        """See ``BalanceLayer.memory``."""
        if not self._has_begun:
            return None
        commanded = self._function.inputs["commanded_com"].copy()
        return BalanceMemory(commanded, self._dcm_law.memory, self._gains.progress)

    def resume(self, memory: BalanceMemory | None) -> None:
        """See ``BalanceLayer.resume``."""
        if memory is None:
            self.reset()
            return
        self._has_begun = True
        self._function.set(commanded_com=memory.com_position)
        self._dcm_law.resume(memory.law)
        self._gains.resume(memory.gains)

    def reset(self) -> None:
        """See ``BalanceLayer.reset``."""
        self._dcm_law.reset()
        self._gains.reset()
        self._has_begun = False

    def update(self, state: RobotState, plan: BalancePlan, time: float, period: float) -> BalanceReference:
        """See ``BalanceLayer.update``; a ZMP that is not measured is taken to be the desired one."""
        function, reference = self._function, plan.reference
        if self._compiled_law is not None:
            self._compiled_law.write(state, plan)
        else:
            function.set(zmp=self._dcm_law.zmp(state, plan, period))
        gains = self._gains.update(reference.is_walking, period)
        if not self._has_begun or self._gains.are_off:
            function.set(commanded_com=reference.com_position[:2])
            self._has_begun = True
        function.set(
            period=period,
            zmp_gain=gains.zmp,
            com_gain=gains.com,
            square=reference.dcm.natural_frequency * reference.dcm.divergence_rate,
            com_reference=reference.com_position,
            com_velocity_reference=reference.com_velocity,
            com_position=state.com_position,
            measured_zmp=state.zmp_position,
            zmp_is_measured=state.zmp_is_measured,
            zmp_shift=plan.zmp_shift,
        )
        outputs = function()
        if self._compiled_law is not None:
            self._compiled_law.keep()
        function.inputs["commanded_com"][...] = outputs["commanded_com"]
        return self._reference(foot_wrenches=None, contact_targets=None)


def balance_function(kind: type[DcmLaw] | None, compiler: Compiler) -> FlatFunction:
    """Return layer 2 as one function: its laws, and the integration of the commanded CoM.

    Args:
        kind: DCM law that states equations; None: the desired ZMP is an input.
        compiler: How it becomes fast.

    Raises:
        ConfigError: The equations of the law have no ZMP, or one of their names is that of another input.
    """
    zmp, period = cs.SX.sym("zmp", 2), cs.SX.sym("period")
    law = kind.__name__ if kind else "zmp"
    given, outputs = {"zmp": zmp, "period": period}, {"zmp": zmp}
    if kind is not None:
        with plugin_errors(f"{law}.equations", kind):
            given, outputs = kind.equations()
    if "zmp" not in outputs or outputs["zmp"].shape != (2, 1):
        raise ConfigError(f"{law}.equations: no output 'zmp' of shape (2, 1)")
    inputs = {name: cs.SX.sym(name) for name in ("zmp_gain", "com_gain", "square", "zmp_is_measured")}
    inputs |= {name: cs.SX.sym(name, 2) for name in ("measured_zmp", "zmp_shift", "commanded_com")}
    inputs |= {name: cs.SX.sym(name, 3) for name in ("com_reference", "com_velocity_reference", "com_position")}
    if taken := sorted(inputs.keys() & given.keys()):
        raise ConfigError(f"{law}.equations: layer 2 has an input '{taken[0]}' itself, call that of the law otherwise")
    inputs = {"period": period, **given, **inputs}
    desired = outputs["zmp"] + inputs["zmp_shift"]
    velocity = zmp_com_velocity(
        inputs["com_velocity_reference"][:2],
        inputs["com_reference"][:2],
        inputs["com_position"][:2],
        desired,
        cs.if_else(inputs["zmp_is_measured"], inputs["measured_zmp"], desired),
        (inputs["zmp_gain"], inputs["com_gain"]),
    )
    period, climb = inputs["period"], inputs["com_velocity_reference"][2]
    commanded = inputs["commanded_com"] + period * velocity
    outputs = outputs | {
        "zmp_position": outputs["zmp"],
        "commanded_com": commanded,
        "com_position": cs.vertcat(commanded, inputs["com_reference"][2] + period * climb),
        "com_velocity": cs.vertcat(velocity, climb),
        "com_acceleration": cs.vertcat(inputs["square"] * (inputs["com_reference"][:2] - outputs["zmp"]), 0.0),
    }
    return FlatFunction(f"balance_{law}", inputs, outputs, compiler)
