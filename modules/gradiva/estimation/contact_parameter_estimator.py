"""Stiffness and damping of the ground below a foot, from its wrench and its motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradiva.common import ConfigError
from gradiva.contacts import ViscoElasticParameters

_NORMAL = slice(2, 5)  # of a wrench: normal force, moments about the horizontal axes
_Row = tuple[float, float, float, float]
"""One component of a wrench: measured, of k = 1, of b = 1, variance."""


@dataclass(frozen=True, slots=True)
class ContactParameterEstimatorConfig:
    """What is known before, and how much a wrench tells.

    Attributes:
        stiffness_deviation: Standard deviation of k when a foot has just touched down, [N/m³].
        damping_deviation: The same of b, [N·s/m³].
        damping_drift: How far b may wander in a second of motion, standard deviation, [N·s/m³/√s]. A change of k
            surprises, one of b hides in the noise and has to be looked for.
        force_deviation: Standard deviation of a measured force, [N].
        moment_deviation: Standard deviation of a measured moment, [N·m].
        surprise: How many standard deviations off a measurement is not believed, [-].
        patience: For how long; then the ground is taken to have changed, [s].
        minimum_load: Normal force below which nothing is learned, [N].
        still_speed: Root mean square speed of the sole's points below which b is not learned, [m/s].
        minimum_stiffness: Least k, [N/m³].
        minimum_damping: Least b, [N·s/m³].
    """

    stiffness_deviation: float
    damping_deviation: float
    damping_drift: float
    force_deviation: float
    moment_deviation: float
    surprise: float
    patience: float
    minimum_load: float
    still_speed: float
    minimum_stiffness: float
    minimum_damping: float

    def __post_init__(self) -> None:
        for name in ("damping_drift", "patience", "still_speed"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")
        positive = ("stiffness_deviation", "damping_deviation", "force_deviation", "moment_deviation")
        for name in (*positive, "surprise", "minimum_load", "minimum_stiffness", "minimum_damping"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class ContactParameterEstimator:
    r"""Recursive least squares for :math:`\pi = [k, b]` in :math:`f = Y \pi + \epsilon` (V, section IV; thesis 8.2).

    .. math::
        L = P Y^\top (\Gamma + Y P Y^\top)^{-1}, \qquad
        \pi \leftarrow \pi + L (f - Y \pi), \qquad
        P \leftarrow (I - L Y) P (I - L Y)^\top + L \Gamma L^\top

    =================  ===============================================================================================
    :math:`f`          measured normal force, moments about the horizontal axes
    :math:`Y`          regressor: wrenches of k = 1 and of b = 1
    :math:`P`          covariance of k and b; reset at each touch-down, and when measurements surprise for too long
    :math:`\Gamma`     covariance of the measurement, diagonal: its components are taken one after the other
    =================  ===============================================================================================

    What is tangential is not asked: it tells of where the foot touched, to a tenth of a millimetre, and of sliding.
    The update of P is Joseph's: right for any L. While the foot is still, b has no part in L: what damping does is then
    less than what the model misses. A measurement that is off by more than P and Γ explain is left out; when that
    lasts, the ground below the foot has changed.
    """

    def __init__(self, config: ContactParameterEstimatorConfig, parameters: ViscoElasticParameters) -> None:
        """Begin with these parameters, as uncertain as after a touch-down."""
        self._config = config
        self._variances = (config.force_deviation**2, config.moment_deviation**2, config.moment_deviation**2)
        self._stiffness, self._damping = parameters
        self.reset_covariance()

    def reset_covariance(self) -> None:
        """A foot has touched down: the ground may be another one."""
        self._kk, self._kb, self._bb = self._config.stiffness_deviation**2, 0.0, self._config.damping_deviation**2
        self._surprised_for = 0.0

    @property
    def parameters(self) -> ViscoElasticParameters:
        """What k and b are taken to be."""
        return ViscoElasticParameters(self._stiffness, self._damping)

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations of k [N/m³] and b [N·s/m³]."""
        return self._kk**0.5, self._bb**0.5

    def update(
        self,
        wrench: Sequence[float],
        regressor: tuple[Sequence[float], Sequence[float]],
        speed: float,
        period: float,
    ) -> ViscoElasticParameters:
        """Take one measurement, and return the parameters.

        Args:
            wrench: Of the ground on the foot, [N, N·m], six numbers.
            regressor: Wrenches of k = 1, b = 0 and of k = 0, b = 1, six numbers each.
            speed: Root mean square speed of the loaded points of the sole, [m/s].
            period: Since the last call, [s].
        """
        if wrench[2] < self._config.minimum_load:
            return self.parameters
        of_k, of_b = regressor
        rows = tuple(zip(wrench[_NORMAL], of_k[_NORMAL], of_b[_NORMAL], self._variances, strict=True))
        if self._is_surprised(rows, period):
            return self.parameters
        is_moving = speed > self._config.still_speed
        if is_moving:
            grown = self._bb + self._config.damping_drift**2 * period
            self._bb = min(grown, self._config.damping_deviation**2)
        for row in rows:
            self._take(*row, is_moving=is_moving)
        self._stiffness = max(self._stiffness, self._config.minimum_stiffness)
        self._damping = max(self._damping, self._config.minimum_damping)
        return self.parameters

    def _is_surprised(self, rows: Sequence[_Row], period: float) -> bool:
        """Tell whether a measurement is to be left out; when that lasted too long, it is not, and P is reset."""
        if not any(self._is_surprising(*row) for row in rows):
            self._surprised_for = 0.0
            return False
        self._surprised_for += period
        if self._surprised_for <= self._config.patience:
            return True
        self.reset_covariance()
        return False

    def _is_surprising(self, measured: float, of_k: float, of_b: float, variance: float) -> bool:
        innovation = measured - of_k * self._stiffness - of_b * self._damping
        explained = variance + self._kk * of_k * of_k + 2.0 * self._kb * of_k * of_b + self._bb * of_b * of_b
        return innovation * innovation > self._config.surprise**2 * explained

    def _take(self, measured: float, of_k: float, of_b: float, variance: float, *, is_moving: bool) -> None:
        """Take one component of the wrench."""
        kk, kb, bb = self._kk, self._kb, self._bb
        to_k, to_b = kk * of_k + kb * of_b, kb * of_k + bb * of_b  # P Yᵀ
        scale = 1.0 / (variance + of_k * to_k + of_b * to_b)
        gain_k, gain_b = to_k * scale, to_b * scale if is_moving else 0.0
        innovation = measured - of_k * self._stiffness - of_b * self._damping
        self._stiffness += gain_k * innovation
        self._damping += gain_b * innovation
        a, b, c, d = 1.0 - gain_k * of_k, -gain_k * of_b, -gain_b * of_k, 1.0 - gain_b * of_b  # I − L Y
        left, right = a * kk + b * kb, a * kb + b * bb
        self._kk = a * left + b * right + variance * gain_k * gain_k
        self._kb = c * left + d * right + variance * gain_k * gain_b
        self._bb = c * (c * kk + d * kb) + d * (c * kb + d * bb) + variance * gain_b * gain_b
