"""A DCM law that takes longer than a tick of torque control."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradiva.common import NDArray
from gradiva.simplified_model.model_control import DcmLaw, DcmSituation, LawMemory

_ROUNDING = 1e-9  # [s] sums of periods are not exact


class HeldLaw:
    r"""Asks another law once in a while and holds its correction in between.

    Decided at :math:`t_k`, for :math:`t_k \le t < t_{k+1}`: :math:`z^*(t) = \Pi [z_r(t) + z^*(t_k) - z_r(t_k)]`, so
    that the reference :math:`z_r` moves on at the rate of the tick.
    """

    def __init__(self, law: DcmLaw, period: float) -> None:
        """Take the law and how often it is asked, [s]."""
        self._law = law
        self._period = period
        self.reset()

    @property
    def failures(self) -> int:
        """See ``DcmLaw.failures``."""
        return self._law.failures

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``; the correction is decided anew by whoever resumes."""
        return self._law.memory

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self._law.resume(memory)
        self._left = 0.0

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self._law.reset()
        self._left = 0.0
        self._correction = np.zeros(2)

    def zmp(self, situation: DcmSituation) -> NDArray:
        """See ``DcmLaw.zmp``."""
        is_due = self._left <= _ROUNDING
        if is_due:
            self._left = max(self._period, situation.period)
            zmp = self._law.zmp(replace(situation, period=self._left))
            self._correction = zmp - situation.reference.zmp_position
        self._left -= situation.period
        return zmp if is_due else situation.polygon.project(situation.reference.zmp_position + self._correction)
