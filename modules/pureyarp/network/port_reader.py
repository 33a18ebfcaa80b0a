"""What a user gives a port to read its messages."""

from __future__ import annotations

from pureyarp.data.streams import ConnectionReader


class PortReader:
    """To be subclassed: `read` is called for every message, on the thread of its connection.

    Messages of several connections may be read at the same time. The sender is acknowledged, and gets what was
    appended to ``reader.getWriter()``, when `read` returns. An exception is logged and answered by
    ``[fail] "message"``.
    """

    def read(self, reader: ConnectionReader) -> bool:
        """Read one message; False says that it was none of the expected kind."""
        return False
