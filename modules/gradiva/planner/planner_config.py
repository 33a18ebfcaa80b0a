"""Configuration of the planner."""

from __future__ import annotations

import math
from enum import StrEnum
from operator import attrgetter

import numpy as np

from gradiva.common import GRAVITY, ConfigError, NDArray, Side, configuration, setting

_FOLDED = 0.5  # [-] of the CoM height, which is about the length of a leg: its knee is then bent by 120°
_LEG_TOLERANCE = 0.3  # [-] height and lean make 0.2; of lifting feet 0.4, so those gains are not compared
_DEEPEST = 0.2  # [-] of the CoM height: no leg that stands lets the other one press deeper


class SwingProfile(StrEnum):
    """Quantity that the swing of a foot minimises."""

    MINIMUM_ACCELERATION = "minimum_acceleration"
    MINIMUM_JERK = "minimum_jerk"


@configuration
class LegMomentumConfig:
    r"""Shift of the ZMP by an acceleration of a foot; zeros: the plan has massless legs.

    The linear inverted pendulum is a point; a robot has legs. With :math:`L` its angular momentum about the CoM, the
    ZMP is

    .. math:: z = x - \frac{\ddot x}{\omega^2} + \frac{1}{m g} \begin{bmatrix} -\dot L_y \\ \dot L_x \end{bmatrix}

    :math:`L` is all but linear in the velocities of the feet relative to the CoM, which makes the last term
    :math:`M_l (a_l - \ddot x) + M_r (a_r - \ddot x)` with the accelerations :math:`a` of the feet. Horizontally
    :math:`M_l + M_r \approx \kappa 1`, so what remains is linear,

    .. math:: z = x - \frac{\ddot x}{\omega_e^2} + M a, \qquad \frac{1}{\omega_e^2} = \frac{1}{\omega^2} + \kappa,

    a pendulum that is slower than the point and is driven by the swinging foot:
    :math:`\dot\xi = \omega_e (\xi - z + M a)`. A plan that has both keeps the ZMP on its reference; under one that has
    not, it moves by :math:`M a` and :math:`\kappa \ddot x`: on iCub v2.7 with steps of 0.15 m in 1.24 s by up to 40 mm
    and 7 mm. On soft ground the soles tilt as the ZMP moves.

    Attributes:
        forward: Forward per forward acceleration, [s²].
        lateral: To the left per acceleration to the left, [s²].
        forward_lift: Forward per upward acceleration, [s²].
        outward_lift: Outward per upward acceleration, [s²].
    """

    forward: float = setting("s²", least=0.0)
    lateral: float = setting("s²", least=0.0)
    forward_lift: float = setting("s²")
    outward_lift: float = setting("s²")

    def __post_init__(self) -> None:
        if not self.is_planned and (self.forward_lift or self.outward_lift):
            raise ConfigError(
                f"forward_lift={self.forward_lift}, outward_lift={self.outward_lift}: nothing is made of them while"
                " forward and lateral are 0; set all four, or none"
            )

    @property
    def is_planned(self) -> bool:
        """Whether the plan includes the momentum of the legs."""
        return self.inertia > 0.0

    @property
    def inertia(self) -> float:
        """κ of both legs, the mean about the horizontal axes, [s²]."""
        return self.forward + self.lateral

    def check(self, left_gains: NDArray) -> None:
        """Compare the momentum of the legs in the plan, if any, with that of the robot's model.

        Args:
            left_gains: Shift of the ZMP by the acceleration of the left foot, axes of the heading, [s²], shape (2, 3).

        Raises:
            ConfigError: They differ by more than three tenths.
        """
        (forward, _, forward_lift), (_, lateral, outward_lift) = left_gains
        pairs = ((self.forward, forward), (self.lateral, lateral))
        if self.is_planned and any(abs(given - true) > _LEG_TOLERANCE * true for given, true in pairs):
            raise ConfigError(
                f"{self} does not fit the legs of this robot: set planner.leg_momentum to forward = {forward:.4f},"
                f" lateral = {lateral:.4f}, forward_lift = {forward_lift:.4f}, outward_lift = {outward_lift:.4f}"
            )

    def matrix(self, side: Side, heading: float) -> NDArray:
        """Return M of one foot (world, [s²], shape (2, 3)) of a robot that faces ``heading`` [rad]."""
        c, s = math.cos(heading), math.sin(heading)
        turn = np.array([[c, -s], [s, c]])
        level = turn @ np.diag([self.forward, self.lateral]) @ turn.T
        return np.column_stack((level, turn @ [self.forward_lift, side.sign * self.outward_lift]))


SAMPLE_PERIOD = 0.02  # [s] dT of the unicycle's path; impact times are multiples of it
REFERENCE_POINT = (0.1, 0.0)  # [m] F in the frame of the unicycle, ahead of the middle of the feet
UNICYCLE_GAIN = 10.0  # [1/s] K of the point-following law, below 1 / SAMPLE_PERIOD
SLOW_WHEN_TURNING = 2.0  # [s/rad] speed / (1 + 2 |ω|): half speed at full turn
LAST_STEP_ALPHA = 0.2  # [-]
"""Α: 0 the DCM of the last step ends over the support foot, 1 over the landing one, and overshoots sideways; by a fifth
of the step's width, 32 to 40 mm, it ends at most 10 mm inside of the support sole's inner edge."""
HEIGHT_GRID_PERIOD = 0.005  # [s] of the grid on which a varying height is integrated; 1e-6 m against a finer grid


@configuration
class CommandLimits:
    """Limits of commands; the highest speed forward is the robot's.

    Attributes:
        max_backward_speed: [m/s].
        max_lateral_speed: [m/s].
        max_angular_speed: [rad/s].
        max_duration: Longest walk of one command, [s].
        cruise_speed: Of a goal that names no speed, [m/s].
    """

    max_backward_speed: float = setting("m/s", least=0.0)
    max_lateral_speed: float = setting("m/s", least=0.0)
    max_angular_speed: float = setting("rad/s", above=0.0)
    max_duration: float = setting("s", above=0.0)
    cruise_speed: float = setting("m/s", above=0.0)


@configuration
class FootstepCost:
    """Choice of footsteps within the limits of a step.

    Attributes:
        time_weight: K_t of the footstep cost, beside which K_x is 1, [m² s²].
        turning_lever: Makes a way of a turn in the footstep cost, [m].
        heel_length: Of the sole behind its frame, which is kept free when the feet are toed out, [m].
        ramp_steps: Number of steps over which the speed rises and falls, [-].
        double_support_ratio: Double support over single support, [-].
    """

    time_weight: float = setting("m² s²", above=0.0)
    turning_lever: float = setting("m", above=0.0)
    heel_length: float = setting("m", above=0.0)
    ramp_steps: float = setting("-", least=0.0)
    double_support_ratio: float = setting("-", least=0.05, most=2.0)


@configuration
class PendulumConfig:
    """Motion of the CoM over the footsteps.

    Attributes:
        first_double_support: Duration of the first weight shift, [s].
        last_double_support: Duration of the last weight shift, [s].
        zmp_tolerance: Of the ZMP from the line between the feet in a replanned shift; a third as a stand begins, [m].
        sinkage: Depth to which a sole sinks that carries the robot alone, [m]; the pendulum is longer by it.
        com_height_amplitude: Rise of the CoM in the middle of a single support, [m]; 0: constant height.
        com_arc: Fraction of the arc of a compass gait that the CoM follows while a foot swings, where its amplitude is
            0, [-]; 1: a leg that carries the robot keeps its length.
    """

    first_double_support: float = setting("s", above=0.0)
    last_double_support: float = setting("s", above=0.0)
    zmp_tolerance: float = setting("m", least=0.0)
    sinkage: float = setting("m", least=0.0)
    com_height_amplitude: float = setting("m")
    com_arc: float = setting("-", least=0.0, most=1.0)


@configuration
class PlannerConfig:
    """Settings of :class:`~gradiva.planner.walking_planner.WalkingPlanner`.

    Attributes:
        com_height: Above the sole frames, [m].
        step_width: Lateral distance of the soles side by side, [m].
        max_speed: Forward, [m/s].
        min_step_duration: Between two impacts, [s].
        max_step_duration: [s].
        min_feet_distance: Of the sole origins in double support, [m].
        max_feet_distance: [m].
        min_step_width: Lateral distance of the soles in their mean direction, [m].
        max_step_turn: Yaw between the feet in double support, [rad].
        zmp_offset: Of the ZMP in the frame of the left foot, [m]; mirrored for the right one.
        swing_height: Apex above the straight line between two footprints, [m].
        adapted_swing_height: The same of a step that catches a push or was moved, [m].
        apex_fraction: Time of the apex, as a fraction of the swing, [-].
        swing_profile: Quantity that the swing minimises.
        landing_height: Of the landing sole above the ground, [m]; negative presses into it.
        leg_momentum: Angular momentum of the legs.
        commands: Limits of commands.
        footsteps: Choice of footsteps.
        pendulum: Motion of the CoM.
    """

    com_height: float = setting("m", above=0.0)
    step_width: float = setting("m", above=0.0)
    max_speed: float = setting("m/s", above=0.0)
    min_step_duration: float = setting("s", above=0.0)
    max_step_duration: float = setting("s", above=0.0)
    min_feet_distance: float = setting("m", above=0.0)
    max_feet_distance: float = setting("m", above=0.0)
    min_step_width: float = setting("m", above=0.0)
    max_step_turn: float = setting("rad", above=0.0, most=math.pi / 2.0)
    zmp_offset: tuple[float, float] = setting("m")
    swing_height: float = setting("m", above=0.0)
    adapted_swing_height: float = setting("m", above=0.0)
    apex_fraction: float = setting("-", least=0.2, most=0.8)
    swing_profile: SwingProfile
    landing_height: float = setting("m")
    leg_momentum: LegMomentumConfig
    commands: CommandLimits
    footsteps: FootstepCost
    pendulum: PendulumConfig

    def __post_init__(self) -> None:
        self._check_ordered("min_step_duration", "max_step_duration")
        self._check_ordered("min_feet_distance", "max_feet_distance")
        self._check_ordered("min_step_width", "step_width")
        self._check_ordered("min_feet_distance", "step_width")
        self._check_ordered("step_width", "max_feet_distance")
        self._check_ordered("commands.cruise_speed", "max_speed")
        for name in ("swing_height", "adapted_swing_height"):
            self._check_range(name, 0.0, _FOLDED * self.com_height, "m: a folded leg lifts its sole no higher")
        self._check_range("landing_height", -_DEEPEST * self.com_height, self.swing_height, "m")
        self._check_height_profile()
        if self.pendulum.com_height_amplitude != 0.0 and self.inverse_frequency_offset != 0.0:
            raise ConfigError(
                f"com_height_amplitude={self.pendulum.com_height_amplitude} m: a plan of varying height includes"
                " neither the momentum of the legs nor sinking soles, which this one needs, as on soft ground: set"
                " it to 0",
                ["pendulum.com_height_amplitude"],
            )

    @property
    def natural_frequency(self) -> float:
        """ζ of the pendulum of constant height, [rad/s]."""
        return 1.0 / math.sqrt(self.com_height / GRAVITY + self.inverse_frequency_offset)

    @property
    def inverse_frequency_offset(self) -> float:
        """Offset of 1/ζ² by sunk soles, which make the pendulum longer, and by leaning legs, [s²]."""
        return self.pendulum.sinkage / GRAVITY + self.leg_momentum.inertia

    def single_support(self, step_duration: float) -> float:
        """Return the single support of a step, [s]."""
        return step_duration / (1.0 + self.footsteps.double_support_ratio)

    def com_rise(self, way: float, duration: float) -> tuple[float, ...]:
        r"""Return the rise of the CoM, [m], as a polynomial in the time, lowest power first.

        A leg of length h that has half a step s ahead and behind it is lower at both ends by :math:`s^2 / (8 h)`, and
        a foot swings over two steps. The rise is that of ``com_height_amplitude``, :math:`64 \sigma^3 (1 - \sigma)^3`.

        Args:
            way: Distance that the foot swings, [m].
            duration: Duration of the swing, [s].
        """
        if self.pendulum.com_arc == 0.0 or self.pendulum.com_height_amplitude != 0.0:
            return ()
        rise, powers = (
            self.pendulum.com_arc * way * way / (32.0 * self.com_height),
            (0.0, 0.0, 0.0, 64.0, -192.0, 192.0, -64.0),
        )
        return tuple(rise * factor / duration**power for power, factor in enumerate(powers))

    def pace(self, forward: float, lateral: float, angular: float) -> float:
        """Return the speed of a foot past the other one, [m/s]; sideways and in turns one foot moves for both."""
        return math.hypot(forward, 2.0 * lateral, 2.0 * self.footsteps.turning_lever * angular)

    def preferred_duration(self, pace: float) -> float:
        """Return the step duration of least cost at a constant pace [m/s], [s]: Δt⁴ = K_t / v², limited."""
        if pace <= 0.0:
            return self.max_step_duration
        best = (self.footsteps.time_weight / (pace * pace)) ** 0.25
        return min(self.max_step_duration, max(self.min_step_duration, best))

    def _check_ordered(self, lower: str, upper: str) -> None:
        low, high = attrgetter(lower)(self), attrgetter(upper)(self)
        if low > high:
            raise ConfigError(f"{lower}={low} exceeds {upper}={high}", [upper, lower])

    def _check_range(self, name: str, lower: float, upper: float, why: str = "") -> None:
        if not lower <= getattr(self, name) <= upper:
            raise ConfigError(f"{name}={getattr(self, name)}, must lie in [{lower:.4g}, {upper:.4g}] {why}".rstrip())

    def _check_height_profile(self) -> None:
        shortest = self.single_support(self.min_step_duration)
        peak = 24.0 * abs(self.pendulum.com_height_amplitude) / shortest**2  # of the bump's acceleration, at its top
        if peak > 0.5 * GRAVITY:
            raise ConfigError(
                f"com_height_amplitude={self.pendulum.com_height_amplitude} m asks for {peak:.1f} m/s² in the shortest"
                f" single support ({shortest:.2f} s), at most half of gravity",
                ["pendulum.com_height_amplitude"],
            )
