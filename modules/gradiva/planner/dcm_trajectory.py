"""What every DCM trajectory can be asked."""

from __future__ import annotations

from typing import Protocol, Self

from gradiva.common import DcmReference, NDArray


class DcmTrajectory(Protocol):
    """The DCM and the CoM over time, from a start on and for ever: after the last step both rest."""

    def at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position ([m], shape (3,)) and its velocity ([m/s], shape (3,)) at ``time``."""
        ...

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM ([m], shape (n, 2)) and the divergence rate σ ([rad/s], shape (n,)) at ``times`` (n,)."""
        ...

    def spliced(self, time: float, continuation: Self) -> Self:
        """Return the trajectory that is this one before ``time``, a segment's start, and ``continuation`` after it."""
        ...
