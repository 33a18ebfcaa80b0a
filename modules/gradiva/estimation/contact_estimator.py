"""Estimate which feet carry load, where they touched the ground, and what the ground is like."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    FootContact,
    FootReference,
    LowPass,
    RobotState,
    Side,
    SoleRectangle,
    WalkingReference,
    configuration,
    setting,
    so3,
)
from gradiva.contacts import ViscoElasticEquations, ViscoElasticParameters, loaded_moments, normal_pressure
from gradiva.robot_model import Compiler, FlatFunction, interpreted

_NORMAL = 2  # of a wrench: the normal force
_MOTION, _CONTACT = ("position", "rotation", "twist"), ("rest_position", "rest_rotation", "ground")


@configuration
class ContactEstimatorConfig:
    """Assume a ground, and how it is detected and estimated.

    Attributes:
        stiffness: k, [N/m³]; when unsure, too low: a controller bears a third of the truth and falls with its triple.
        damping: b, [N·s/m³].
        learns: k and b are estimated; otherwise they are as assumed.
        ground_height: Height of a sole frame that just touches the unloaded ground, [m].
        force_time_constant: Of the low pass on the normal force that detects contacts, 0 for none, [s].
    """

    stiffness: float = setting("N/m³", above=0.0)
    damping: float = setting("N·s/m³", above=0.0)
    learns: bool
    ground_height: float = setting("m")
    force_time_constant: float = setting("s", least=0.0)


class ContactEstimator:
    """Estimates the contacts of both feet with level ground.

    The pose in which a sole would feel no force is its x, y and heading at touch-down, level, at the height of the
    ground. The whole pose at touch-down would be off by the tilt of the foot and by what it had sunk until then.
    """

    def __init__(
        self,
        sole: SoleRectangle,
        config: ContactEstimatorConfig,
        wrench_age: float = 0.0,
        compiler: Compiler = interpreted,
    ) -> None:
        """Prepare.

        Args:
            sole: Rectangle of the left sole.
            config: The assumed ground.
            wrench_age: How much older the wrenches of a state are than its poses, [s]. Ignored, it is taken for less
                damping: by k times the age.
            compiler: How the equations become fast.
        """
        self._function = normal_force_function(sole, compiler)
        self._force_filter = LowPass(config.force_time_constant)
        self._feet = tuple(_FootContactEstimator(side, config, wrench_age) for side in Side)
        self.reset()

    def reset(self) -> None:
        """Forget the past: both feet are in the air, above ground as it was assumed."""
        self._time: float | None = None
        self._force_filter.reset()
        for foot in self._feet:
            foot.reset()

    def update(self, state: RobotState, reference: WalkingReference, time: float) -> tuple[FootContact, FootContact]:
        """Return the contacts of the left and the right foot.

        Args:
            state: Poses, twists and wrenches of the feet. The poses have to be measured: an odometry that takes the
                stance sole to be where it was planned cannot see it sink.
            reference: The plan at the same time.
            time: [s].
        """
        period = 0.0 if self._time is None else time - self._time
        self._time = time
        loads = np.array((state.left_foot_wrench[_NORMAL], state.right_foot_wrench[_NORMAL]))
        forces = self._force_filter.update(loads, period).tolist()
        values = [value for foot in self._feet for value in foot.values(state)]
        self._function.set(**dict(values))
        regressors = self._function().values()
        left, right = (
            foot.update(state, force, reference.foot(foot.side), regressor.tolist(), period)
            for foot, force, regressor in zip(self._feet, forces, regressors, strict=True)
        )
        return left, right


class _FootContactEstimator:
    """Estimates the contact of one foot."""

    def __init__(self, side: Side, config: ContactEstimatorConfig, wrench_age: float) -> None:
        self.side = side
        self._wrench_age = wrench_age
        self._config = config
        self._names = tuple(f"{side}_{name}" for name in _MOTION + _CONTACT)
        self._detector = ContactDetector()

    def reset(self) -> None:
        """Forget the contact; begin with the stiffness and damping that the configuration assumes."""
        self._detector.reset()
        assumed = ViscoElasticParameters(self._config.stiffness, self._config.damping)
        self._parameters = ContactParameterEstimator(_LEARNING, assumed)
        self._contact: FootContact | None = None
        self._regressor: tuple[float, float] | None = None

    def values(self, state: RobotState) -> Iterable[tuple[str, npt.ArrayLike]]:
        """Return the inputs of ``normal_force_function``; before the first contact, without one."""
        motion = state.foot_position(self.side), state.foot_rotation(self.side), state.foot_twist(self.side)
        if self._contact is None:
            return zip(self._names, motion, strict=False)
        contact = self._contact
        ground = contact.stiffness, contact.damping
        return zip(self._names, (*motion, contact.rest_position, contact.rest_rotation, ground), strict=True)

    def update(
        self, state: RobotState, force: float, reference: FootReference, regressor: list[float], period: float
    ) -> FootContact:
        """Return the contact, a new one where the sole has touched down or left, else one that has learned.

        Args:
            state: With pose, twist and wrench of the foot.
            force: Along the normal, [N].
            reference: Of the foot in the plan.
            regressor: Normal forces of unit stiffness and of unit damping, and the area that touches, [m²].
            period: Of the tick, [s].
        """
        is_active = self._detector.update(force, reference)
        was_active = self._contact is not None and self._contact.is_active
        if self._contact is None or not (is_active and was_active):
            self._parameters.reset_covariance()
            self._regressor = None
            self._contact = self._touching(state, is_active)
        elif self._config.learns:
            measured = float(state.foot_wrench(self.side)[_NORMAL])
            self._contact = self._learned(measured, regressor, self._contact, period)
        return self._contact

    def _touching(self, state: RobotState, is_active: bool) -> FootContact:
        """Return the contact of a sole that touches the ground right here."""
        x, y, _ = state.foot_position(self.side).tolist()
        level = so3.rotation_z(so3.yaw(state.foot_rotation(self.side)))
        return FootContact(is_active, np.array([x, y, self._config.ground_height]), level, *self._parameters.parameters)

    def _learned(self, force: float, regressor: list[float], contact: FootContact, period: float) -> FootContact:
        """Return the contact as this measurement corrects it."""
        of_stiffness, of_damping, area = regressor
        if area == 0.0:  # the force says contact, the pose says air: nothing can be learned
            return contact
        now = of_stiffness, of_damping
        last, self._regressor = self._regressor, now
        if self._wrench_age > 0.0:
            if last is None or period == 0.0:  # the force is older than the contact
                return contact
            ratio = self._wrench_age / period
            now = now[0] + ratio * (last[0] - now[0]), now[1] + ratio * (last[1] - now[1])
        return contact.with_ground(*self._parameters.update(force, *now, now[1] / area, period))


_TOUCH_FORCE = 8.0  # [N] normal force; earlier the rest pose is no better, later the foot is asked to stop too late
_RELEASE_FORCE = 1.0  # [N] below it a foot is no longer in contact


class ContactDetector:
    """Contact by the plan and by the force.

    A foot touches when the force says so and the plan has it stand or come down: a foot that meets the ground early
    stands. It is released when its force is gone, whatever the plan says, or when the plan lifts it.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the past: the foot is in the air."""
        self.is_active = False
        self._was_planned = False

    def update(self, force: float, reference: FootReference) -> bool:
        """Return whether the foot carries load.

        Args:
            force: Normal force of the ground on the foot, [N].
            reference: What the plan wants of the foot.
        """
        is_lifted = self._was_planned and not reference.in_contact
        self._was_planned = reference.in_contact
        if self.is_active:
            self.is_active = force >= _RELEASE_FORCE and not is_lifted
        else:
            comes_down = reference.in_contact or float(reference.twist[2]) < 0.0
            self.is_active = comes_down and force > _TOUCH_FORCE
        return self.is_active


def normal_force_function(sole: SoleRectangle, compiler: Compiler) -> FlatFunction:
    """Return the function.

    Inputs for each side: ``<side>_position`` (3), ``<side>_rotation`` (3, 3) and ``<side>_twist`` (6) of the sole;
    ``<side>_rest_position`` (3), ``<side>_rest_rotation`` (3, 3) and ``<side>_ground`` (k, b) of its contact. Output
    for each side: ``<side>_normal_force``, that of k = 1, b = 0 [m³], that of k = 0, b = 1 [m³/s], and the loaded
    area [m²].

    Args:
        sole: Rectangle of the left sole.
        compiler: How it becomes fast.
    """
    inputs: dict[str, cs.SX] = {}
    outputs = {f"{side}_normal_force": _foot_normal_force(side, sole, inputs) for side in Side}
    return FlatFunction("normal_forces", inputs, outputs, compiler)


def _foot_normal_force(side: Side, sole: SoleRectangle, inputs: dict[str, cs.SX]) -> cs.SX:
    """Return the output of one foot and add its inputs."""
    shapes = {"position": (3, 1), "rotation": (3, 3), "twist": (6, 1), "rest_position": (3, 1), "rest_rotation": (3, 3)}
    symbols = {name: cs.SX.sym(f"{side}_{name}", *shape) for name, shape in shapes.items()}
    ground = cs.SX.sym(f"{side}_ground", 2)
    inputs |= {f"{side}_{name}": symbol for name, symbol in symbols.items()} | {f"{side}_ground": ground}
    motion: Any = [_numbers(symbol) for symbol in symbols.values()]
    corners = [(x, y) for x, y in sole.corners(side).tolist()]
    moments = loaded_moments(corners, normal_pressure(sole.z, _numbers(ground), *motion), sole.z)
    of_stiffness, of_damping = ViscoElasticEquations(moments, *motion).regressor()
    result: list[Any] = [of_stiffness[_NORMAL], of_damping[_NORMAL], moments.area]
    return cs.vertcat(*result)


def _numbers(symbol: cs.SX) -> Any:
    """Return a column or a matrix as scalars, which the equations of the ground take for numbers."""
    return cs.vertsplit(symbol) if symbol.shape[1] == 1 else [cs.horzsplit(row) for row in cs.vertsplit(symbol)]


# -- stiffness and damping ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContactLearning:
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


_LEARNING = ContactLearning(
    stiffness_deviation=1e6,  # [N/m³] much less, and a wrong k is taken for a wrong b
    damping_deviation=2e4,  # [N·s/m³]
    damping_drift=500.0,  # [N·s/m³/√s] follows b under a standing foot in some seconds; 1000 is noisier
    force_deviation=5.0,  # [N]
    innovation_limit=10.0,  # [-]
    innovation_timeout=0.01,  # [s] 0.003 resets by chance where the noise is four times as large as assumed
    minimum_load=30.0,  # [N] below it the loaded part of the sole is too uncertain
    still_speed=0.002,  # [m/s] at slower motion the effect of b is below the model error
    minimum_stiffness=5e4,  # [N/m³] no robot stands on softer ground
    minimum_damping=100.0,  # [N·s/m³] the least that has been walked on
)


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

    def __init__(self, config: ContactLearning, parameters: ViscoElasticParameters) -> None:
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
