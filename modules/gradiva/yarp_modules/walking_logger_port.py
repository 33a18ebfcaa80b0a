"""The signals of each tick, for loggers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradiva.common import Measurement
from gradiva.middleware import yarp
from gradiva.middleware.vectors_collection import VectorsCollectionServer
from gradiva.walking import WalkingLog, element_names, walking_signals


class WalkingLoggerPort:
    """Publishes the signals of the balancing robot as a VectorsCollection, while somebody listens."""

    def __init__(self, name: str, joints: Sequence[str]) -> None:
        """Take the beginning of the names of the ports, and the joints in the order of the description."""
        self._server = VectorsCollectionServer(name)
        self._joints = joints
        self._known: set[str] = set()
        self._stamp = yarp.Stamp()

    def open(self) -> None:
        """Open the ports.

        Raises:
            NetworkError: They could not be opened.
        """
        self._server.open()

    def close(self) -> None:
        """Close the ports."""
        self._server.close()

    def send(self, log: WalkingLog, measurement: Measurement, tick_times: dict[str, float]) -> None:
        """Publish one tick; one in which the control loop did not run is left out.

        Args:
            log: Of the tick.
            measurement: That it saw.
            tick_times: How long its parts took, [s].
        """
        if log.desired is None or not (self._server.is_heard or not self._known):  # the names are told in any case
            return
        signals = walking_signals(log, measurement) | {f"tick::{part}": value for part, value in tick_times.items()}
        values = {name: _listed(value) for name, value in signals.items()}
        for name in values.keys() - self._known:
            self._introduce(name)
        self._stamp.update(log.time)
        self._server.send(values, self._stamp)

    def _introduce(self, name: str) -> None:
        elements = (
            (name.rsplit("::", maxsplit=1)[-1],) if name.startswith("tick::") else element_names(name, self._joints)
        )
        self._server.populate_metadata(name, elements)
        self._known.add(name)


def _listed(value: float | npt.ArrayLike) -> list[float]:
    if isinstance(value, float):
        return [value]
    numbers: list[float] = (value if isinstance(value, np.ndarray) else np.asarray(value, dtype=float)).ravel().tolist()
    return numbers
