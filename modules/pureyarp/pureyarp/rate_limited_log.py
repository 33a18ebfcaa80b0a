"""Log warnings of what may fail a thousand times a second at a limited rate."""

from __future__ import annotations

import logging
import threading
import time


class RateLimitedLog:
    """Logs at most one warning per period, with the number of those that were suppressed since.

    Args:
        logger: Where to.
        period: Between two warnings, [s].
    """

    def __init__(self, logger: logging.Logger, period: float = 1.0) -> None:
        self._logger = logger
        self._period = period
        self._next = -float("inf")
        self._left_out = 0
        self._lock = threading.Lock()

    def warning(self, text: str, *arguments: object, trace: bool = False) -> None:
        """Log a warning unless there has just been one.

        Args:
            text: With ``%`` places.
            arguments: For the places.
            trace: Whether to add where the exception that is being handled came from.
        """
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                self._left_out += 1
                return
            left_out, self._left_out, self._next = self._left_out, 0, now + self._period
        more = f" (and {left_out} more before)" if left_out else ""
        self._logger.warning(text + more, *arguments, exc_info=trace)
