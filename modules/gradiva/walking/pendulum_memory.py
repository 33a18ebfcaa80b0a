"""What layer 2 remembers from one tick to the next: with it, any process can go on where another one ended."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import NDArray, freeze_arrays
from gradiva.simplified_model import GainProgress


@dataclass(frozen=True, slots=True, eq=False)
class LawMemory:
    """What a DCM law remembers.

    Attributes:
        dcm_integral: Of the DCM error, [m·s], shape (2,).
        previous_zmp: Of the predictive law, world, [m], shape (2,); None where there is none.
    """

    dcm_integral: NDArray
    previous_zmp: NDArray | None

    def __post_init__(self) -> None:
        freeze_arrays(self, dcm_integral=(2,))
        if self.previous_zmp is not None:
            freeze_arrays(self, previous_zmp=(2,))


@dataclass(frozen=True, slots=True, eq=False)
class PendulumMemory:
    """What all of layer 2 remembers.

    Attributes:
        com_position: The commanded CoM, integrated, world, [m], shape (2,).
        law: Of the DCM law.
        gains: Of the gain schedule.
    """

    com_position: NDArray
    law: LawMemory
    gains: GainProgress

    def __post_init__(self) -> None:
        freeze_arrays(self, com_position=(2,))
