"""A planner that keeps the heels and toes off the joints of a tiled floor: it moves the shipped footsteps a little."""

from dataclasses import dataclass, replace

import numpy as np

import gradiva


@dataclass(frozen=True, slots=True)
class TilesConfig:
    """Table ``[planners.tiles]``.

    Attributes:
        length: Of a tile along x, [m].
        most: By which a foothold is moved along x, [m].
    """

    length: float
    most: float

    def __post_init__(self) -> None:
        if not 0.0 < self.most < 0.5 * self.length:
            raise gradiva.ConfigError(f"most={self.most}: must be between 0 and half a tile of {self.length} m")


class Tiles(gradiva.WalkingPlanner):
    """Draws each foothold towards the middle of its tile; the feet still end side by side, where they were planned."""

    Config = TilesConfig

    def __init__(self, config: gradiva.PlannerConfig, own: TilesConfig) -> None:
        super().__init__(config)
        self._own, self._moved = own, 0.0

    def footsteps(self, *args, **kwargs):
        """Return the shipped footsteps, all but the last two moved; see ``WalkingPlanner.footsteps``."""
        steps = super().footsteps(*args, **kwargs)
        return [*map(self._on_tile, steps[:-2]), *steps[-2:]]

    def signals(self) -> dict[str, float]:
        """Return by how much the last foothold of the plan was moved: ``own::planner::moved`` of the log."""
        return {"moved": self._moved}

    def _on_tile(self, step):
        middle = (np.floor(step.pose.x / self._own.length) + 0.5) * self._own.length
        self._moved = float(np.clip(middle - step.pose.x, -self._own.most, self._own.most))
        return replace(step, pose=step.pose.moved(self._moved, 0.0))
