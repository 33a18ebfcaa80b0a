"""Instantaneous law of layer 2: keep the divergent component of motion (DCM) on its reference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, DcmReference, NDArray, RobotState
from gradiva.contacts import SupportPolygon
from gradiva.robot_model import RobotDescription
from gradiva.simplified_model.balance_layer import BalancePlan, DcmLaw, LawMemory

_Pair = tuple[float, float]  # on the ground plane; numpy takes longer for two numbers than their arithmetic


@dataclass(frozen=True, slots=True)
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

    proportional_gain: float
    integral_gain: float
    integral_limit: float
    polygon_margin: float

    def __post_init__(self) -> None:
        if not 1.0 < self.proportional_gain < math.inf:
            raise ConfigError(f"proportional_gain={self.proportional_gain}: the DCM error decays only above 1")
        for name in ("integral_gain", "integral_limit", "polygon_margin"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name}={getattr(self, name)}: must be zero or more, and finite")


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

    def __init__(self, config: DcmControllerConfig, robot: RobotDescription | None = None) -> None:
        self._config = config
        self._integral: _Pair = (0.0, 0.0)
        self._whole_polygon: SupportPolygon | None = None
        self._polygon: SupportPolygon | None = None

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``: the integral of the error."""
        return LawMemory(np.array(self._integral))

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        x, y = memory.dcm_integral.tolist()
        self._integral = x, y

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self._integral = 0.0, 0.0

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """Return the ZMP that steers the DCM to its reference, within the shrunk polygon; see ``DcmLaw.zmp``.

        Raises:
            ConfigError: The margin leaves nothing of the polygon.
            ValueError: The DCM or its reference is not finite; the integral stays as it was.
        """
        reference = plan.reference.dcm
        (x, y), (x_r, y_r) = state.dcm_position.tolist(), reference.position.tolist()
        error = x - x_r, y - y_r
        allowed, last = self._shrunk(plan.polygon), self._integral
        integral = self._bounded(last[0] + error[0] * period, last[1] + error[1] * period)
        desired = self._unbounded(reference, error, integral)
        if math.hypot(*integral) > math.hypot(*last) and not allowed.contains(desired):
            integral = last
            desired = self._unbounded(reference, error, integral)
        zmp = allowed.project(desired)
        self._integral = integral
        return zmp

    def _unbounded(self, reference: DcmReference, error: _Pair, integral: _Pair) -> _Pair:
        """Return the ZMP that is held by no polygon, [m]."""
        (x, y), k_p, k_i = reference.zmp_position.tolist(), self._config.proportional_gain, self._config.integral_gain
        return x + k_p * error[0] + k_i * integral[0], y + k_p * error[1] + k_i * integral[1]

    def _bounded(self, x: float, y: float) -> _Pair:
        norm, limit = math.hypot(x, y), self._config.integral_limit
        return (x, y) if norm <= limit else (x * (limit / norm), y * (limit / norm))

    def _shrunk(self, polygon: SupportPolygon) -> SupportPolygon:
        if polygon is not self._whole_polygon or self._polygon is None:
            self._polygon = self._inner(polygon)
            self._whole_polygon = polygon
        return self._polygon

    def _inner(self, polygon: SupportPolygon) -> SupportPolygon:
        try:
            return polygon.shrunk(self._config.polygon_margin)
        except ValueError as error:
            raise ConfigError(f"[dcm_controller] polygon_{error}") from None
