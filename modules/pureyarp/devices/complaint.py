"""One line in the log for a failure that lasts."""

from __future__ import annotations

import logging

_log = logging.getLogger("pureyarp")


class Complaint:
    """Says once why something fails, and again only after it worked in between: loops do not flood the log."""

    def __init__(self) -> None:
        """Have nothing to complain about."""
        self._is_said = False

    def say(self, message: str, *arguments: object) -> None:
        """Log the line unless it has been said already."""
        if not self._is_said:
            self._is_said = True
            _log.error(message, *arguments)

    def settle(self) -> None:
        """It works."""
        self._is_said = False
