"""What the plan foresees, for a predictive controller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common.arrays import NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class DcmPreview:
    r"""A walking plan sampled over n intervals of equal length; world.

    The ZMP of an interval is the constant one that carries the DCM from its first sample to the next, so that
    the preview obeys :math:`\xi_{k+1} = e^{\sigma T} \xi_k + (1 - e^{\sigma T}) z_k` exactly.

    Attributes:
        period: Length of an interval, [s].
        dcm_positions: At the ends of the intervals, [m], shape (n + 1, 2).
        zmp_positions: Held over the intervals, [m], shape (n, 2).
        divergence_rates: σ in the middle of the intervals, [rad/s], shape (n,).
        left_in_contact: Whether the left foot carries load in the middle of the interval, shape (n,).
        right_in_contact: The same of the right foot, shape (n,).
        left_foot_poses: x, y, yaw of the left sole, [m, m, rad], shape (n, 3); of a foot that swings, where it
            will land.
        right_foot_poses: The same of the right sole, shape (n, 3).
    """

    period: float
    dcm_positions: NDArray
    zmp_positions: NDArray
    divergence_rates: NDArray
    left_in_contact: npt.NDArray[np.bool_]
    right_in_contact: npt.NDArray[np.bool_]
    left_foot_poses: NDArray
    right_foot_poses: NDArray

    def __post_init__(self) -> None:
        count = len(self.divergence_rates)
        freeze_arrays(
            self,
            dcm_positions=(count + 1, 2),
            zmp_positions=(count, 2),
            divergence_rates=(count,),
            left_foot_poses=(count, 3),
            right_foot_poses=(count, 3),
        )
        for name in ("left_in_contact", "right_in_contact"):
            flags = np.array(getattr(self, name), dtype=np.bool_)
            if flags.shape != (count,):
                raise ValueError(f"DcmPreview.{name}: expected {count} flags, got shape {flags.shape}")
            flags.flags.writeable = False
            object.__setattr__(self, name, flags)
