"""Ports that send, collect and double numbers."""

from pureyarp.data import Bottle
from pureyarp.network import BottleCallback, BufferedPortBottle, PortReader


def connected(opened, kind=BufferedPortBottle, carrier: str = "tcp"):
    """Return a port that reads and one that writes to it."""
    into, out = opened(kind, "/in"), opened(kind, "/out")
    assert out.addOutput("/in", carrier)
    return into, out


def write_number(port, number: int, strict: bool = False) -> None:
    message = port.prepare()
    message.clear()
    message.addInt32(number)
    port.write(strict)


def numbers(port, count: int) -> list[int]:
    return [port.read().get(0).asInt32() for _ in range(count)]


class Collector(BottleCallback):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def onRead(self, datum, reader) -> None:
        self.texts.append(f"{reader.getName()}: {datum.toString()}")


class Doubler(PortReader):
    """Answers every number by its double."""

    def read(self, reader) -> bool:
        question, answer = Bottle(), Bottle()
        if not question.read(reader):
            return False
        answer.addFloat64(2 * question.get(0).asFloat64())
        writer = reader.getWriter()
        if writer is not None:
            answer.write(writer)
        return True
