"""How well an exchange of requests and replies goes."""

from __future__ import annotations

import numpy as np

from pureyarp.wire.elements import Element

_REMEMBERED = 1000  # round trips for the percentiles


class ExchangeRecord:
    """Counts and times round trips.

    Attributes:
        asked: Requests that were sent.
        answered: Of them, with a reply in time.
        missed: Of them, without.
        late: Replies that came when nobody waited for them any more.
        refused: Replies that say why there is no decision.
    """

    def __init__(self) -> None:
        self.asked = self.answered = self.missed = self.late = self.refused = 0
        self._durations = np.zeros(_REMEMBERED)

    def note_answer(self, duration: float) -> None:
        """Count a reply that came after ``duration`` [s]."""
        self._durations[self.answered % _REMEMBERED] = duration
        self.answered += 1

    def percentile_us(self, share: float) -> float:
        """Return the time that ``share`` per cent of the last 1000 round trips stayed below, [µs]; 0 without any."""
        known = self._durations[: self.answered]
        return 1e6 * float(np.percentile(known, share)) if len(known) else 0.0

    def items(self) -> list[Element]:
        """Return all as pairs (name value)."""
        counts: list[Element] = [
            [name, getattr(self, name)] for name in ("asked", "answered", "missed", "late", "refused")
        ]
        return [
            *counts,
            ["round_trip_median_us", self.percentile_us(50.0)],
            ["round_trip_p99_us", self.percentile_us(99.0)],
        ]
