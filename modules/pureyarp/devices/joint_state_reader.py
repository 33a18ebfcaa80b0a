"""Keeps the last state that a control board has sent."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.middleware.control_board.joint_data import JointData
from gradiva.middleware.control_board.joint_data_message import joint_data_in
from pureyarp.data.streams import Stamp
from pureyarp.devices.last_message import LastMessage
from pureyarp.network.buffered_ports import NewestMessagePort
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.ports import read_envelope


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedState:
    """A state and its time.

    Attributes:
        joints: What was measured.
        measured_at: [s], on the board's clock; 0 if it does not say.
    """

    joints: JointData
    measured_at: float


class JointStateReader:
    """Reads the messages of ``stateExt:o``."""

    def __init__(self, port: NewestMessagePort) -> None:
        """Read from a port, which may still be closed."""
        self._port = port
        self._last = LastMessage(port, "state", self._state)

    def fresh(self, timeout: float) -> ReceivedState | None:
        """Return the last state unless it came longer than ``timeout`` [s] ago."""
        last = self._last.read()
        return last.content if last is not None and last.age() <= timeout else None

    def silence(self) -> float:
        """Return for how long nothing came, [s] of real time; infinite before the first message."""
        last = self._last.read()
        return float("inf") if last is None else last.silence()

    def _state(self, message: IncomingMessage) -> ReceivedState:
        stamp = Stamp()
        stamped = read_envelope(message.envelope, stamp, self._port.getName())
        return ReceivedState(_joint_data(message), stamp.getTime() if stamped else 0.0)


def _joint_data(message: IncomingMessage) -> JointData:
    usual = joint_data_in(message.payload, message.source.family) if isinstance(message.payload, bytes) else None
    return JointData.from_items(message.items()) if usual is None else usual
