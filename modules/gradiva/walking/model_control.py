"""Layer 2 as one: from the estimated state and the plan to the ZMP and the CoM that the body should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gradiva.common import NDArray, RobotState, WalkingReference, sealed
from gradiva.contacts import SupportPolygon
from gradiva.safety import Finding
from gradiva.simplified_model import GainSchedule, ZmpComController, ZmpComGains
from gradiva.simplified_model.model_control import DcmLaw, DcmSituation, PendulumMemory, Preview


@dataclass(frozen=True, slots=True, eq=False)
class DesiredPendulum:
    """What layer 2 asks of the body.

    Attributes:
        zmp_position: World, [m], shape (2,).
        com_position: World, [m], shape (3,).
        com_velocity: World, [m/s], shape (3,).
    """

    zmp_position: NDArray
    com_position: NDArray
    com_velocity: NDArray


class PendulumLayer(Protocol):
    """Layer 2, in this process or behind ports.

    Attributes:
        findings: What is wrong with it at present.
    """

    findings: tuple[Finding, ...]

    @property
    def failures(self) -> int:
        """How often it had no solution of its own."""
        ...

    def reset(self) -> None:
        """Begin again: the next commanded CoM starts on its reference."""
        ...

    def update(
        self,
        state: RobotState,
        reference: WalkingReference,
        polygon: SupportPolygon,
        preview: Preview,
        period: float,
        zmp_shift: NDArray,
        measured_zmp: NDArray | None,
    ) -> DesiredPendulum:
        """Return what the body should do; see ``ModelControl.update``."""
        ...


class ModelControl:
    """DCM law, ZMP–CoM law and gain schedule; integrates the commanded CoM position."""

    findings: tuple[Finding, ...] = ()

    def __init__(self, dcm_law: DcmLaw, zmp_com: ZmpComController, gains: GainSchedule) -> None:
        self._dcm_law = dcm_law
        self._zmp_com = zmp_com
        self._gains = gains
        self._com_position: tuple[float, float] | None = None  # x, y

    @property
    def failures(self) -> int:
        """How often the DCM law had no solution of its own."""
        return self._dcm_law.failures

    @property
    def memory(self) -> PendulumMemory | None:
        """All that it remembers of the past ticks; None before the first."""
        if self._com_position is None:
            return None
        return PendulumMemory(np.array(self._com_position), self._dcm_law.memory, self._gains.progress)

    def resume(self, memory: PendulumMemory | None) -> None:
        """Go on from the ``memory`` of another one of the same configuration; None: begin again."""
        if memory is None:
            self.reset()
            return
        x, y = memory.com_position.tolist()
        self._com_position = x, y
        self._dcm_law.resume(memory.law)
        self._gains.resume(memory.gains)

    def reset(self) -> None:
        """Begin again: the next commanded CoM starts on its reference."""
        self._dcm_law.reset()
        self._gains.reset()
        self._com_position = None

    def update(
        self,
        state: RobotState,
        reference: WalkingReference,
        polygon: SupportPolygon,
        preview: Preview,
        period: float,
        zmp_shift: NDArray,
        measured_zmp: NDArray | None,
    ) -> DesiredPendulum:
        """Return what the body should do for the coming ``period`` [s].

        Args:
            state: Estimated.
            reference: The plan now.
            polygon: Of the feet that the plan has on the ground.
            preview: Samples the plan from now on.
            period: [s].
            zmp_shift: By how much the swinging foot moves the ZMP, world, [m], shape (2,).
            measured_zmp: World, [m], shape (2,); where it is not known it is taken to be where it should be.
        """
        situation = DcmSituation(state.dcm_position, reference.dcm, polygon, preview, period)
        desired_zmp = self._dcm_law.zmp(situation)
        gains = self._gains.update(reference.is_walking, period)
        vx, vy = self._velocity(state, reference, desired_zmp + zmp_shift, measured_zmp, gains)
        (x_r, y_r, height), (_, _, climb) = reference.com_position.tolist(), reference.com_velocity.tolist()
        x, y = self._com_position or (x_r, y_r)
        self._com_position = x, y = x + period * vx, y + period * vy
        return DesiredPendulum(
            zmp_position=desired_zmp,
            com_position=sealed(np.array((x, y, height + period * climb))),
            com_velocity=sealed(np.array((vx, vy, climb))),
        )

    def _velocity(
        self,
        state: RobotState,
        reference: WalkingReference,
        wanted_zmp: NDArray,
        measured_zmp: NDArray | None,
        gains: ZmpComGains,
    ) -> list[float]:
        """Return the horizontal velocity of the CoM, x and y, [m/s]."""
        axes = zip(
            reference.com_velocity.tolist(),
            reference.com_position.tolist(),
            state.com_position.tolist(),
            wanted_zmp.tolist(),
            (wanted_zmp if measured_zmp is None else measured_zmp).tolist(),
            strict=False,  # the ZMP has no height
        )
        return [self._zmp_com.velocity(*axis, gains) for axis in axes]
