"""What every DCM trajectory can be asked."""

from __future__ import annotations

from typing import Protocol, Self

from gradiva.common import DcmReference, NDArray


class DcmTrajectory(Protocol):
    """The DCM and the CoM over time, from a start on and for ever: after the last step both rest."""

    def at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position ([m], shape (3,)) and its velocity ([m/s], shape (3,)) at ``time``.

        The arrays are made for the caller.
        """
        ...

    def sampled(self, times: NDArray) -> tuple[NDArray, NDArray]:
        """Return the DCM ([m], shape (n, 2)) and the divergence rate σ ([rad/s], shape (n,)) at ``times`` (n,)."""
        ...

    def spliced(self, since: float, time: float, continuation: Self) -> Self:
        """Return this trajectory between ``since`` and ``time`` [s], and ``continuation``, which starts at ``time``."""
        ...
