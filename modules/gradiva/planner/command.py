"""Commands of a walk: velocity, goal, path, stop."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from gradiva.common import NDArray, PlanningError, readonly


@dataclass(frozen=True, slots=True)
class VelocityCommand:
    """Walk with a constant velocity of the body, whose heading turns as commanded and not otherwise.

    Attributes:
        forward: Negative is backward, [m/s].
        lateral: Positive is to the left, [m/s].
        angular: Positive is counter-clockwise, [rad/s].
        duration: How long, the ramps included and the closing step excluded, [s]; None: as long as the planner
            allows, or until it is replanned.
        heading_error: Heading of the robot less the commanded one, which it turns back while it walks, [rad]. A walk
            sets it by the odometry in each plan.
    """

    forward: float
    lateral: float = 0.0
    angular: float = 0.0
    duration: float | None = None
    heading_error: float = 0.0

    def __post_init__(self) -> None:
        _refuse_not_finite(self)
        if self.duration is not None and self.duration <= 0.0:
            raise PlanningError(f"duration={self.duration} s, must be positive")

    def __str__(self) -> str:
        """Return it in words that follow "walks"."""
        parts = []
        if self.forward:
            parts.append(f"{'forward' if self.forward > 0 else 'backward'} at {abs(self.forward):g} m/s")
        if self.lateral:
            parts.append(f"to the {'left' if self.lateral > 0 else 'right'} at {abs(self.lateral):g} m/s")
        if self.angular:
            side = "left" if self.angular > 0 else "right"
            parts.append(f"turning {side} at {abs(math.degrees(self.angular)):.3g}°/s")
        return " and ".join(parts) if parts else "on the spot"


@dataclass(frozen=True, slots=True)
class GoalCommand:
    """Walk to a place and stop there.

    Attributes:
        x: World, [m].
        y: World, [m].
        yaw: Final direction, turned to on the spot after the arrival, [rad]; None: as the robot arrives.
        speed: [m/s]; None: the cruise speed of the planner.
    """

    x: float
    y: float
    yaw: float | None = None
    speed: float | None = None

    def __post_init__(self) -> None:
        _refuse_not_finite(self)

    def __str__(self) -> str:
        """Return it in words that follow "walks"."""
        yaw = "" if self.yaw is None else f", heading {round(math.degrees(self.yaw))}°"
        return f"to ({self.x:g}, {self.y:g}) m{yaw}"


@dataclass(frozen=True, slots=True, eq=False)
class PathCommand:
    """Walk along a polyline and stop at its end.

    Attributes:
        points: World, [m], shape (k, 2), at least one.
        speed: Along the path, [m/s].
        yaw: Final direction, turned to on the spot after the arrival, [rad]; None: that of the path's end.
    """

    points: NDArray
    speed: float
    yaw: float | None = None

    def __post_init__(self) -> None:
        try:
            points = readonly(self.points, (None, 2))
        except (ValueError, TypeError) as error:
            raise PlanningError(f"path: {error}") from None
        is_finite = all(map(_is_finite, (self.speed, 0.0 if self.yaw is None else self.yaw)))
        if len(points) == 0 or not is_finite or not np.all(np.isfinite(points)):
            raise PlanningError(
                f"path: points {points.tolist()}, speed {self.speed!r} and yaw {self.yaw!r} must be finite, not empty"
            )
        object.__setattr__(self, "points", points)

    def __str__(self) -> str:
        """Return it in words that follow "walks"."""
        points = "1 point" if len(self.points) == 1 else f"{len(self.points)} points"
        return f"along a path of {points} at {self.speed:g} m/s"


@dataclass(frozen=True, slots=True)
class StopCommand:
    """Close the feet with the next step that can, and stand."""

    def __str__(self) -> str:
        """Return it in words that follow "walks"."""
        return "to a stand"


Command = VelocityCommand | GoalCommand | PathCommand | StopCommand


def _refuse_not_finite(command: VelocityCommand | GoalCommand) -> None:
    for field in fields(command):
        value = getattr(command, field.name)
        if value is None and field.default is None:
            continue
        if not _is_finite(value):
            raise PlanningError(f"{type(command).__name__}: {field.name}={value!r} is not a finite number")


def _is_finite(value: object) -> bool:
    """Return whether a value is a number and finite; whatever is no number is not."""
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except TypeError:
        return False
