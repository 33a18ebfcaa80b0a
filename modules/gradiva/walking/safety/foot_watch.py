"""A standing foot that carries too little, or tips about its edge."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gradiva.common import ConfigError, RobotState, Side, SoleRectangle, WalkingReference
from gradiva.walking.safety.persistence import Patience
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class FootWatchConfig:
    """What is borne of a standing foot.

    Attributes:
        minimum_force: Normal force, as a part of the robot's weight, [-].
        minimum_load: The same of both feet together, in any support, [-].
        force_duration: Of both, [s].
        pressure_margin: Kept by the centre of pressure from the edges of the sole; negative: borne beyond them, [m].
        pressure_duration: [s].
    """

    minimum_force: float
    minimum_load: float
    force_duration: float
    pressure_margin: float
    pressure_duration: float

    def __post_init__(self) -> None:
        for name in ("minimum_force", "minimum_load"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must lie between 0 and 1")
        for name in ("force_duration", "pressure_duration"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")


class FootWatch:
    r"""Looks at the foot that should carry the robot alone, and whether both feet together carry it.

    In double support one foot may carry nothing, but not both: what is missing is then missed at the one that carries
    less, most often because its sensor is dead. In the axes of the sole frame, with force :math:`f` and moment
    :math:`\mu` about its origin and the bottom of the sole at height :math:`h`, the centre of pressure is

    .. math:: c = \frac{1}{f_z} [h f_x - \mu_y, \; h f_y + \mu_x]
    """

    def __init__(self, config: FootWatchConfig, sole: SoleRectangle, weight: float) -> None:
        """Take what is borne, the left sole and the robot's weight [N]."""
        self._lowest = config.minimum_force * weight
        self._lightest = config.minimum_load * weight
        self._height = sole.z
        self._corners = {side: sole.corners(side, config.pressure_margin).tolist() for side in Side}
        self._force = {side: Patience(config.force_duration) for side in Side}
        self._pressure = {side: Patience(config.pressure_duration) for side in Side}
        self._load = Patience(config.force_duration)

    def reset(self) -> None:
        """Forget the past."""
        for patience in (*self._force.values(), *self._pressure.values(), self._load):
            patience.reset()

    def findings(
        self, state: RobotState, reference: WalkingReference, untrusted: Collection[Side], time: float
    ) -> list[Finding]:
        """Return what is newly wrong.

        Args:
            state: Estimated.
            reference: Says which foot should stand.
            untrusted: Feet whose sensors are known to be wrong.
            time: [s].
        """
        found = [] if untrusted else self._missing_load(state, time)
        stance = reference.stance_foot
        if not reference.is_double_support and stance not in untrusted:
            found += self._standing_alone(state, stance, time)
        return found

    def _missing_load(self, state: RobotState, time: float) -> list[Finding]:
        left, right = float(state.left_foot_wrench[2]), float(state.right_foot_wrench[2])
        if not self._load.is_over(left + right < self._lightest, time):
            return []
        side = Side.LEFT if left < right else Side.RIGHT
        text = (
            f"both feet carry {left + right:.0f} N, the limit is {self._lightest:.0f} N: the {side} foot has no ground,"
            " or its sensor is dead"
        )
        return [Finding(SafetyKind.FOOT_FORCE, str(side), text)]

    def _standing_alone(self, state: RobotState, stance: Side, time: float) -> list[Finding]:
        rotation, wrench = state.foot_rotation(stance), state.foot_wrench(stance)
        force, moment = wrench.reshape(2, 3).dot(rotation).tolist()
        load = force[2]
        is_low = load < self._lowest
        found = []
        if self._force[stance].is_over(is_low, time):
            text = f"the {stance} foot carries {load:.0f} N alone, the limit is {self._lowest:.0f} N"
            found.append(Finding(SafetyKind.FOOT_FORCE, str(stance), text))
        beyond = 0.0 if is_low else self._beyond_edge(stance, force, moment)
        if self._pressure[stance].is_over(beyond > 0.0, time):
            text = (
                f"the centre of pressure of the {stance} foot is {1e3 * beyond:.1f} mm beyond its limit: the foot tips"
                " about an edge, or its sensor is wrong"
            )
            found.append(Finding(SafetyKind.CENTRE_OF_PRESSURE, str(stance), text))
        return found

    def _beyond_edge(self, side: Side, force: list[float], moment: list[float]) -> float:
        """How far the centre of pressure is outside the allowed rectangle, 0 within, [m]."""
        (fx, fy, fz), (mx, my, _) = force, moment
        x, y = (self._height * fx - my) / fz, (self._height * fy + mx) / fz
        (x1, y0), _, (x0, y1), _ = self._corners[side]
        return max(0.0, x0 - x, x - x1, y0 - y, y - y1)
