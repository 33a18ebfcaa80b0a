"""A fence: the walk ends before the robot leaves a circle around its start."""

import math
from dataclasses import dataclass

from gradiva.common import ConfigError, Measurement, PlanarPose, RobotState, WalkingReference
from gradiva.robot_model import RobotDescription
from gradiva.safety import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class FenceConfig:
    """Table ``[safety.checks.fence]``.

    Attributes:
        radius: Of the circle in which the robot may walk, [m].
    """

    radius: float

    def __post_init__(self) -> None:
        if self.radius <= 0.0:
            raise ConfigError(f"radius={self.radius}, must be positive")


class FenceCheck:
    """Compares the distance of the base from the start, by odometry, with the radius of the fence."""

    Config = FenceConfig

    def __init__(self, config: FenceConfig, robot: RobotDescription) -> None:
        self._radius = config.radius

    def reset(self) -> None:
        """Forget the past, of which there is none."""

    def findings(
        self, measurement: Measurement, state: RobotState, reference: WalkingReference, time: float
    ) -> list[Finding]:
        """Return a finding where the base is outside of the fence."""
        base = state.plan_origin @ PlanarPose.of(state.base_position, state.base_rotation)
        distance = math.hypot(base.x, base.y)
        if distance <= self._radius:
            return []
        text = f"the robot is {distance:.2f} m from its start, the fence is at {self._radius:.2f} m"
        return [Finding(SafetyKind.OWN_CHECK, "fence", text)]
