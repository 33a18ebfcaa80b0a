"""What soft ground is like."""

from __future__ import annotations

from typing import NamedTuple


class ViscoElasticParameters(NamedTuple):
    """A continuum of springs and dampers.

    Attributes:
        stiffness: k, force per displacement and area, [N/m³].
        damping: b, force per velocity and area, [N·s/m³].
    """

    stiffness: float
    damping: float
