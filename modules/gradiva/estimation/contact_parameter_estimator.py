"""Stiffness and damping of the ground below a foot, from its wrench and its motion."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError
from gradiva.contacts import ViscoElasticParameters


@dataclass(frozen=True, slots=True)
class ContactParameterEstimatorConfig:
    """Prior of the ground parameters, noise of the forces, and limits.

    Attributes:
        stiffness_deviation: Standard deviation of k when a foot has just touched down, [N/m³].
        damping_deviation: The same of b, [N·s/m³].
        damping_drift: How far b may wander in a second of motion, standard deviation, [N·s/m³/√s]. A change of k
            shows in the innovation at once, one of b hides in the noise.
        force_deviation: Standard deviation of a measured normal force, [N].
        innovation_limit: A measurement whose innovation exceeds so many standard deviations is left out, [-].
        innovation_timeout: After so long of that the ground is taken to have changed, [s].
        minimum_load: Normal force below which nothing is learned, [N].
        still_speed: Mean vertical speed of the sole's loaded points below which b is not learned, [m/s].
        minimum_stiffness: Least k, [N/m³].
        minimum_damping: Least b, [N·s/m³].
    """

    stiffness_deviation: float
    damping_deviation: float
    damping_drift: float
    force_deviation: float
    innovation_limit: float
    innovation_timeout: float
    minimum_load: float
    still_speed: float
    minimum_stiffness: float
    minimum_damping: float

    def __post_init__(self) -> None:
        for name in ("damping_drift", "innovation_timeout", "still_speed"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")
        positive = ("stiffness_deviation", "damping_deviation", "force_deviation")
        for name in (*positive, "innovation_limit", "minimum_load", "minimum_stiffness", "minimum_damping"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class ContactParameterEstimator:
    r"""Recursive least squares for :math:`\pi = [k, b]` in :math:`f = Y \pi + \epsilon` (V, section IV; thesis 8.2).

    .. math::
        L = P Y^\top (\gamma + Y P Y^\top)^{-1}, \qquad
        \pi \leftarrow \pi + L (f - Y \pi), \qquad
        P \leftarrow (I - L Y) P (I - L Y)^\top + L \gamma L^\top

    =================  =================================================================================================
    :math:`f`          measured normal force
    :math:`Y`          its regressor: the forces of k = 1 and of b = 1
    :math:`P`          covariance of k and b; reset at each touch-down, and when outliers last
    :math:`\gamma`     variance of the measurement
    =================  =================================================================================================

    Of a wrench only the normal force is used. Its tangential part depends on where exactly the foot touched, and on
    sliding; a foot that moved on by 3 mm while it touched has so wrong moments that b is lost.
    The update of P is Joseph's: right for any L. While the foot is still, b has no part in L: the effect of damping
    is then below the model error. A measurement that is off by more than P and γ explain is left out; when that
    lasts, the ground below the foot has changed.
    """

    def __init__(self, config: ContactParameterEstimatorConfig, parameters: ViscoElasticParameters) -> None:
        """Begin with these parameters, as uncertain as after a touch-down."""
        self._config = config
        self._variance = config.force_deviation**2
        self._stiffness, self._damping = parameters
        self.reset_covariance()

    def reset_covariance(self) -> None:
        """Reset P at a touch-down: the ground may be another one."""
        self._kk, self._kb, self._bb = self._config.stiffness_deviation**2, 0.0, self._config.damping_deviation**2
        self._outlier_time = 0.0

    @property
    def parameters(self) -> ViscoElasticParameters:
        """Estimated k and b."""
        return ViscoElasticParameters(self._stiffness, self._damping)

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations of k [N/m³] and b [N·s/m³]."""
        return self._kk**0.5, self._bb**0.5

    def update(self, force: float, of_k: float, of_b: float, speed: float, period: float) -> ViscoElasticParameters:
        """Take one measurement, and return the parameters.

        Args:
            force: Normal force of the ground on the foot, [N].
            of_k: What it would be for k = 1, b = 0, [m³].
            of_b: What it would be for k = 0, b = 1, [m³/s].
            speed: Mean vertical speed of the loaded points of the sole, of any sign, [m/s].
            period: Since the last call, [s].
        """
        if force < self._config.minimum_load or self._is_outlier(force, of_k, of_b, period):
            return self.parameters
        is_moving = abs(speed) > self._config.still_speed
        if is_moving:
            grown = self._bb + self._config.damping_drift**2 * period
            self._bb = min(grown, self._config.damping_deviation**2)
        self._take(force, of_k, of_b, is_moving)
        self._stiffness = max(self._stiffness, self._config.minimum_stiffness)
        self._damping = max(self._damping, self._config.minimum_damping)
        return self.parameters

    def _is_outlier(self, force: float, of_k: float, of_b: float, period: float) -> bool:
        """Tell whether a measurement is to be left out; when that lasted too long, it is not, and P is reset."""
        innovation = force - of_k * self._stiffness - of_b * self._damping
        explained = self._variance + self._kk * of_k * of_k + 2.0 * self._kb * of_k * of_b + self._bb * of_b * of_b
        if innovation * innovation <= self._config.innovation_limit**2 * explained:
            self._outlier_time = 0.0
            return False
        self._outlier_time += period
        if self._outlier_time <= self._config.innovation_timeout:
            return True
        self.reset_covariance()
        return False

    def _take(self, force: float, of_k: float, of_b: float, is_moving: bool) -> None:
        kk, kb, bb = self._kk, self._kb, self._bb
        to_k, to_b = kk * of_k + kb * of_b, kb * of_k + bb * of_b  # P Yᵀ
        scale = 1.0 / (self._variance + of_k * to_k + of_b * to_b)
        gain_k, gain_b = to_k * scale, to_b * scale if is_moving else 0.0
        innovation = force - of_k * self._stiffness - of_b * self._damping
        self._stiffness += gain_k * innovation
        self._damping += gain_b * innovation
        a, b, c, d = 1.0 - gain_k * of_k, -gain_k * of_b, -gain_b * of_k, 1.0 - gain_b * of_b  # I − L Y
        left, right = a * kk + b * kb, a * kb + b * bb
        self._kk = a * left + b * right + self._variance * gain_k * gain_k
        self._kb = c * left + d * right + self._variance * gain_k * gain_b
        self._bb = c * (c * kk + d * kb) + d * (c * kb + d * bb) + self._variance * gain_b * gain_b
