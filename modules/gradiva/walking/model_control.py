"""Layer 2 as one: from the estimated state and the plan to the ZMP and the CoM that the body should have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gradiva.common import DcmReference, NDArray, NoSolutionFound, RobotState, WalkingReference
from gradiva.common.dcm_preview import DcmPreview
from gradiva.contacts import SupportPolygon
from gradiva.simplified_model import DcmController, DcmMpc, GainSchedule, ZmpComController

Preview = Callable[[float, int], DcmPreview]
"""Samples the plan from now: period [s] and count."""


@dataclass(frozen=True, slots=True, eq=False)
class DcmSituation:
    """What a DCM law decides on.

    Attributes:
        dcm_position: Estimated, world, [m], shape (2,).
        reference: The plan now.
        polygon: Of the feet that the plan has on the ground.
        preview: Samples the plan from now on.
        period: Until the next decision, [s].
    """

    dcm_position: NDArray
    reference: DcmReference
    polygon: SupportPolygon
    preview: Preview
    period: float


class DcmLaw(Protocol):
    """Keeps the DCM on its reference."""

    failures: int

    def zmp(self, situation: DcmSituation) -> NDArray:
        """Return the desired ZMP (world, [m], shape (2,))."""
        ...

    def reset(self) -> None:
        """Forget the past."""
        ...


class InstantaneousLaw:
    """The DCM feedback that looks at this instant alone."""

    def __init__(self, controller: DcmController) -> None:
        self._controller = controller
        self.failures = 0

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self._controller.reset()

    def zmp(self, situation: DcmSituation) -> NDArray:
        """See ``DcmLaw.zmp``."""
        here = situation
        return self._controller.zmp(here.dcm_position, here.reference, here.polygon, here.period)


class PredictiveLaw:
    """The DCM predictive controller; when it has no solution the instantaneous law answers in its place.

    Attributes:
        failures: How often that happened.
    """

    def __init__(self, mpc: DcmMpc, fallback: InstantaneousLaw) -> None:
        self._mpc = mpc
        self._fallback = fallback
        self.failures = 0

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self._mpc.reset()
        self._fallback.reset()

    def zmp(self, situation: DcmSituation) -> NDArray:
        """See ``DcmLaw.zmp``."""
        horizon = situation.preview(self._mpc.config.period, self._mpc.config.samples)
        try:
            return situation.polygon.project(self._mpc.zmp(situation.dcm_position, horizon, situation.period))
        except NoSolutionFound:
            self.failures += 1
            return self._fallback.zmp(situation)


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


class ModelControl:
    """DCM law, ZMP–CoM law and gain schedule; integrates the commanded CoM position."""

    def __init__(self, dcm_law: DcmLaw, zmp_com: ZmpComController, gains: GainSchedule) -> None:
        self._dcm_law = dcm_law
        self._zmp_com = zmp_com
        self._gains = gains
        self._com_position: NDArray | None = None

    @property
    def failures(self) -> int:
        """How often the DCM law had no solution of its own."""
        return self._dcm_law.failures

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
        wanted_zmp = desired_zmp + zmp_shift
        velocity = self._zmp_com.velocity(
            reference.com_velocity[:2],
            reference.com_position[:2],
            state.com_position[:2],
            wanted_zmp,
            wanted_zmp if measured_zmp is None else measured_zmp,
            self._gains.update(reference.is_walking, period),
        )
        if self._com_position is None:
            self._com_position = reference.com_position[:2].copy()
        self._com_position = self._com_position + period * velocity
        height, climb = reference.com_position[2], reference.com_velocity[2]
        return DesiredPendulum(
            zmp_position=desired_zmp,
            com_position=np.array([*self._com_position, height + period * climb]),
            com_velocity=np.array([*velocity, climb]),
        )
