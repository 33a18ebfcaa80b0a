"""The two families of YARP on the wire: they differ in the tags of floating-point numbers."""

from __future__ import annotations

from enum import Enum


class WireFamily(Enum):
    """Which tags floating-point numbers carry, and which control-board protocol is spoken."""

    YARP_3 = "3"
    YARP_4 = "4"

    @property
    def float64_tag(self) -> int:
        """Return the tag of a number of 8 bytes."""
        return 10 if self is WireFamily.YARP_3 else 20

    @property
    def float32_tag(self) -> int:
        """Return the tag of a number of 4 bytes."""
        return 128 if self is WireFamily.YARP_3 else 10

    @property
    def other(self) -> WireFamily:
        """Return the family that this one is not."""
        return WireFamily.YARP_4 if self is WireFamily.YARP_3 else WireFamily.YARP_3
