"""Keeps the last state that a control board has sent."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gradiva.middleware.control_board.joint_data import JointData
from gradiva.middleware.embedded.data import time_source
from gradiva.middleware.embedded.data.bottle import Bottle
from gradiva.middleware.embedded.data.stamp import Stamp
from gradiva.middleware.embedded.devices.complaint import Complaint
from gradiva.middleware.embedded.network.buffered_port import BufferedPortBottle
from gradiva.middleware.embedded.network.callbacks import BottleCallback
from gradiva.middleware.errors import MalformedMessage


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedState:
    """A state and when it came.

    Attributes:
        joints: What was measured.
        measured_at: [s], on the board's clock; 0 if it does not say.
        arrived_at: [s], on the clock of this process, which may be the network's.
        received_at: [s], monotonic.
    """

    joints: JointData
    measured_at: float
    arrived_at: float
    received_at: float


class JointStateReader(BottleCallback):
    """Takes every message of ``stateExt:o`` and keeps the last."""

    def __init__(self, port: BufferedPortBottle) -> None:
        """Read from a port that calls back."""
        super().__init__()
        self._port = port
        self._last: ReceivedState | None = None
        self._malformed = Complaint()

    def onRead(self, datum: Bottle, *reader: object) -> None:
        """Keep a message, or drop one that is no state."""
        stamp = Stamp()
        stamped = self._port.getEnvelope(stamp)
        try:
            joints = JointData.from_items(datum.items)
        except MalformedMessage as error:
            self._malformed.say("%s was sent no state: %s", self._port.getName(), error)
            return
        self._malformed.settle()
        measured_at = stamp.getTime() if stamped else 0.0
        self._last = ReceivedState(joints, measured_at, time_source.now(), time.monotonic())

    def fresh(self, timeout: float) -> ReceivedState | None:
        """Return the last state unless it came longer than ``timeout`` [s] ago."""
        last = self._last
        return last if last is not None and time_source.now() - last.arrived_at <= timeout else None

    def silence(self) -> float:
        """Return for how long nothing came, [s] of real time; infinite before the first message."""
        last = self._last
        return float("inf") if last is None else time.monotonic() - last.received_at
