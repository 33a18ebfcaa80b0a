"""The walking plan's near future, sampled, as a predictive controller reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common.arrays import NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class DcmPreview:
    """N intervals of equal length that begin now; sample k is at the beginning of interval k.

    Attributes:
        period: Length of an interval, [s].
        dcm_positions: Reference DCM, world, [m], shape (N + 1, 2).
        zmp_positions: Zero moment point that goes with it, world, [m], shape (N, 2).
        divergence_rates: σ of the DCM dynamics, [rad/s], shape (N,).
        left_in_contact: Whether the left foot is on the ground, shape (N,).
        right_in_contact: Whether the right foot is on the ground, shape (N,).
        left_foot_poses: x, y, yaw of the left sole frame, world, [m, m, rad], shape (N, 3).
        right_foot_poses: The same of the right foot.
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
        count = len(self.zmp_positions)
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
                raise ValueError(f"DcmPreview.{name}: expected shape {(count,)}, got {flags.shape}")
            flags.flags.writeable = False
            object.__setattr__(self, name, flags)
