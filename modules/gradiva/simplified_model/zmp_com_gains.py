"""One set of gains of the ZMP-CoM controller."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common import ConfigError


@dataclass(frozen=True, slots=True)
class ZmpComGains:
    """How strongly the CoM velocity answers to the ZMP and to the CoM.

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
