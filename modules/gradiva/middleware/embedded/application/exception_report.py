"""Exceptions of user code, told once each."""

from __future__ import annotations

import logging
import traceback

_LOGGER = logging.getLogger("gradiva.yarp")
_MOST_KINDS = 100  # remembered; beyond that a module is broken in a way that its log cannot help


class ExceptionReport:
    """Logs an exception with its traceback when it comes for the first time from its place in the code.

    Args:
        owner: Name that the log tells.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._counts: dict[tuple[str, str, str, int], int] = {}

    def tell(self, error: BaseException, where: str) -> None:
        """Log ``error`` that left the function ``where``, unless this kind was told before."""
        kind = (where, *_kind(error))
        if kind not in self._counts and len(self._counts) < _MOST_KINDS:
            self._counts[kind] = 0
            _LOGGER.error("%s: %s failed: %s", self._owner, where, error, exc_info=error)
        if kind in self._counts:
            self._counts[kind] += 1

    def tell_counts(self) -> None:
        """Log how often each kind came, where it was more than once."""
        for (where, name, file, line), count in self._counts.items():
            if count > 1:
                _LOGGER.error("%s: %s in %s at %s:%d came %d times", self._owner, name, where, file, line, count)


def _kind(error: BaseException) -> tuple[str, str, int]:
    frames = traceback.extract_tb(error.__traceback__)
    place = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
    return type(error).__name__, *place
