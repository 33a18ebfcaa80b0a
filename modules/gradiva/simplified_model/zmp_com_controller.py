"""ZMP-CoM law of layer 2: the CoM velocity from ZMP and CoM errors, and the schedule of its gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import casadi as cs

from gradiva.common import ConfigError, NDArray, minimum_jerk

Plane = TypeVar("Plane", NDArray, cs.SX)
"""Vectors on the ground plane, shape (2,): numbers or expressions."""

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


@dataclass(frozen=True, slots=True)
class ZmpComGains:
    """Gains of the CoM velocity on the ZMP error and on the CoM error.

    Attributes:
        zmp: K_ZMP, [1/s].
        com: K_CoM, [1/s].

    Raises:
        ConfigError: A gain is negative or infinite.
    """

    zmp: float
    com: float

    def __post_init__(self) -> None:
        if not (0.0 <= self.zmp < math.inf and 0.0 <= self.com < math.inf):
            raise ConfigError(f"zmp={self.zmp}, com={self.com}: both gains must be zero or more, and finite")

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


@dataclass(frozen=True, slots=True)
class GainProgress:
    """State of a gain schedule.

    Attributes:
        is_walking: The present situation.
        start: r₀, the ratio when it began, [-].
        ratio: r, the present one, [-].
        elapsed: Since it began, at most the blend time, [s].
    """

    is_walking: bool
    start: float
    ratio: float
    elapsed: float


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
        self._walking = walking
        self._standing = standing
        self._blended: tuple[float, ZmpComGains] = 0.0, standing.blended(walking, 0.0)
        self.reset()

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
        target = float(is_walking)
        if self._elapsed >= self._blend_time:
            self._ratio = target
        else:
            progress = minimum_jerk(self._elapsed / self._blend_time)[0]
            self._ratio = self._start + (target - self._start) * progress
        if self._blended[0] != self._ratio:
            self._blended = self._ratio, self._standing.blended(self._walking, self._ratio)
        return self._blended[1]
