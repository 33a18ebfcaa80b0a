"""What a run has left whose runner was killed: its processes and the names of its ports."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from threading import Event

from gradiva.yarp_modules.application.application_network import ApplicationNetwork
from gradiva.yarp_modules.application.marked_processes import carries, marked_processes, send_signal
from gradiva.yarp_modules.application.process_end import Ending, Patience, end_process
from gradiva.yarp_modules.application.run_claim import RunRecord, StartedProcess


class LeftProcess:
    """A process of a run that nobody watches any more."""

    def __init__(self, started: StartedProcess, mark: str, network: ApplicationNetwork) -> None:
        self.started = started
        self._mark = mark
        self._network = network

    @property
    def is_alive(self) -> bool:
        """Whether it runs; another process that has got its number does not count."""
        return carries(self.started.process, self._mark)

    def ask_to_quit(self) -> bool:
        """Tell it to quit over RPC."""
        return bool(self.started.port) and self._network.quit(self.started.port)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self.is_alive:
            send_signal(self.started.process, number)


def end_modules(record: RunRecord, network: ApplicationNetwork, patience: Patience, hurry: Event) -> list[str]:
    """End the modules of a run, the last one first; return the titles of those that lived."""
    ended = []
    for started in reversed(record.started):
        process = LeftProcess(started, record.mark, network)
        if process.is_alive:
            ended.append(started.title)
            end_process(process, patience, hurry)
    return ended


def end_marked(mark: str, patience: Patience, hurry: Event, spared: Iterable[int] = ()) -> list[int]:
    """End all processes that carry ``mark``, children of modules as well; return those that do not end."""
    network = ApplicationNetwork()  # nobody is asked
    immortal = []
    for number in set(marked_processes(mark)) - set(spared):
        process = LeftProcess(StartedProcess("", number, ""), mark, network)
        if end_process(process, patience, hurry) is Ending.IMMORTAL:
            immortal.append(number)
    return immortal


def forget_ports(ports_before: Iterable[str], network: ApplicationNetwork) -> list[str]:
    """Unregister the ports that came after ``ports_before`` and that nobody answers at; return which."""
    return network.forget_dead(sorted(network.names() - set(ports_before)))
