"""How deep a sole sinks into soft ground."""

from __future__ import annotations

from gradiva.common import SoleRectangle


def static_sinkage(load: float, sole: SoleRectangle, stiffness: float) -> float:
    """Return f / (A k), the depth at which a level sole carries ``load`` [N] on ground of stiffness k [N/m³], [m]."""
    return load / (sole.length * sole.width * stiffness)
