"""The laws that keep the divergent component of motion on its reference, behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gradiva.common import DcmPreview, DcmReference, NDArray, NoSolutionFound
from gradiva.contacts import SupportPolygon
from gradiva.simplified_model import DcmController, DcmMpc
from gradiva.simplified_model.model_control import LawMemory

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

    @property
    def failures(self) -> int:
        """How often it had no solution of its own."""
        ...

    @property
    def memory(self) -> LawMemory:
        """What it remembers of the past."""
        ...

    def resume(self, memory: LawMemory) -> None:
        """Go on from what a law of the same kind remembered."""
        ...

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

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``."""
        return LawMemory(self._controller.integral, None)

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self._controller.reset(memory.dcm_integral)

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

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``."""
        return LawMemory(self._fallback.memory.dcm_integral, self._mpc.previous_zmp)

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``; the solver's last solution stays its first guess."""
        self._mpc.resume(memory.previous_zmp)
        self._fallback.resume(memory)

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
