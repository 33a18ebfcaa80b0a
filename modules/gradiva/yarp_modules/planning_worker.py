"""Plans beside the tick, in a thread of its own."""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue

from gradiva.planner import WalkingPlanner
from gradiva.walking import PlanReply, PlanRequest, answered


class PlanningWorker:
    """A `PlanningService` that never holds up the tick; of several requests that wait only the newest is planned.

    Attributes:
        lead: See `PlanningService`.
        patience: See `PlanningService`.
    """

    def __init__(self, planner: WalkingPlanner, lead: float, patience: float) -> None:
        """Begin to wait for requests; ``lead`` and ``patience`` in [s]."""
        self.lead = lead
        self.patience = patience
        self._planner = planner
        self._requests: SimpleQueue[PlanRequest | None] = SimpleQueue()
        self._replies: SimpleQueue[PlanReply] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="planner", daemon=True)
        self._thread.start()

    def submit(self, request: PlanRequest) -> None:
        """See ``PlanningService.submit``."""
        self._requests.put(request)

    def poll(self) -> PlanReply | None:
        """Return the newest reply that has come, or None."""
        reply = None
        while True:
            try:
                reply = self._replies.get_nowait()
            except Empty:
                return reply

    def close(self) -> None:
        """End the thread after the plan that it is making."""
        self._requests.put(None)
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while (request := self._newest()) is not None:
            self._replies.put(answered(self._planner, request))

    def _newest(self) -> PlanRequest | None:
        request = self._requests.get()
        while request is not None and not self._requests.empty():
            request = self._requests.get()
        return request
