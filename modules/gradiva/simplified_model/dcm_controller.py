"""Instantaneous law of layer 2: keep the divergent component of motion (DCM) on its reference."""

from __future__ import annotations

import math

import casadi as cs
import numpy as np

from gradiva.common import ConfigError, NDArray, RobotState, configuration, setting
from gradiva.contacts import SupportPolygon
from gradiva.robot_model import ConfiguredRobot, FlatFunction, RobotDescription, configured
from gradiva.simplified_model.balance_layer import BalancePlan, DcmLaw, Equations, LawMemory, PendulumState

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
        integral = integral * cs.fmin(1.0, inputs["integral_limit"] / cs.fmax(_norm(integral), _TINY))
        is_winding_up = cs.logic_and(_norm(integral) > _norm(last), _depth(unbounded(integral), inputs) > 0.0)
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


def _norm(vector: cs.SX) -> cs.SX:
    return cs.sqrt(cs.sumsqr(vector))


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
