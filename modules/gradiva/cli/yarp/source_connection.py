"""The connection from a source that may come later, go and come again."""

from __future__ import annotations

from gradiva.cli.yarp.connecting import connect_or_fail
from gradiva.cli.yarp.failures import failure_text, say
from gradiva.cli.yarp.port_search import is_alive
from gradiva.middleware import NetworkError, carrier_between


class SourceConnection:
    """Connects a port to our input whenever it can, and tells what it waits for."""

    def __init__(self, source: str, destination: str, carrier: str) -> None:
        self._source = source
        self._destination = destination
        self._carrier = carrier
        self._told = ""

    def keep(self) -> None:
        """Connect if there is no connection; to be called again and again."""
        try:
            self._tell(self._kept())
        except NetworkError as error:
            self._tell(f"waiting: {failure_text(error)}")

    def _kept(self) -> str:
        """Return what there is to tell."""
        present = carrier_between(self._source, self._destination)
        if present and self._carrier in ("", present):
            return f"connected from {self._source}"
        if not is_alive(self._source):
            return f"waiting for {self._source}"
        connect_or_fail(self._source, self._destination, self._carrier)
        return f"connected from {self._source}"

    def _tell(self, text: str) -> None:
        if text != self._told:
            self._told = text
            say(text)
