"""From standing to walking gains and back without a step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common import ConfigError, minimum_jerk
from gradiva.simplified_model.zmp_com_gains import ZmpComGains


@dataclass(frozen=True, slots=True)
class GainScheduleConfig:
    """How fast the gains change.

    Attributes:
        blend_time: From one set to the other, [s].

    Raises:
        ConfigError: The time is negative or infinite.
    """

    blend_time: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.blend_time < math.inf:
            raise ConfigError(f"blend_time={self.blend_time} s: must be zero or more, and finite")


@dataclass(frozen=True, slots=True)
class GainProgress:
    """How far a gain schedule is.

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
    r"""The gains of the present situation: standing, walking, or on the way between them.

    .. math:: K = (1 - r) K_{standing} + r K_{walking}, \qquad r = r_0 + (r_1 - r_0)\, s(t / T)

    with :math:`s` the minimum-jerk profile, :math:`T` the blend time, :math:`r_1` one while walking and zero
    while standing, and :math:`r_0` the ratio when the situation last changed: turning back half way is
    continuous.
    """

    def __init__(self, config: GainScheduleConfig, walking: ZmpComGains, standing: ZmpComGains) -> None:
        self._blend_time = config.blend_time
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
        """How far it is; `resume` goes on from there."""
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
