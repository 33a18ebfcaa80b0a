"""Noise on the wrenches of the soles."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import ConfigError, NDArray
from gradiva.simulation.viscoelastic_config import WrenchNoiseConfig

_WHOLE = 1e-6  # [-] how far an interval may be from a whole number of steps


class WrenchNoise:
    """Draws a wrench a sole and holds it for the interval of the configuration; the same seed draws the same.

    Of draws that are more frequent than the physics steps a step sees the mean, whose standard deviation is σ times
    the square root of interval over step.
    """

    def __init__(self, config: WrenchNoiseConfig, soles: int, timestep: float, seed: int) -> None:
        """Take the physics step [s].

        Raises:
            ConfigError: The interval is longer than a step, but no whole number of steps.
        """
        steps = config.interval / timestep
        self._steps = max(1, round(steps))
        if steps > 1.0 and abs(steps - self._steps) > _WHOLE:
            raise ConfigError(f"noise.interval={config.interval}: must be a multiple of timestep={timestep}, or less")
        self._deviation = np.repeat([config.force, config.moment], 3) * math.sqrt(min(1.0, steps))
        self._random = np.random.default_rng(seed)
        self._now = np.zeros((soles, 6))

    def at(self, step: int) -> NDArray:
        """Return the noise of a physics step, to be asked in order: world axes, [N, N·m], shape (soles, 6)."""
        if step % self._steps == 0 and self._deviation.any():
            self._now = self._deviation * self._random.standard_normal(self._now.shape)
        return self._now
