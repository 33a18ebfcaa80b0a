"""Beginning and end of a process's part in the network."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from pureyarp.errors import NameServerUnreachable
from pureyarp.network import clock, participation, registration_keeper
from pureyarp.network.current_settings import current_settings, use_settings
from pureyarp.network.guest_name_server import serve_names, stop_serving_names
from pureyarp.network.listening_host import is_loopback
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.name_server import NameServer
from pureyarp.network.settings import NetworkSettings

_RACE = 2.0  # [s] another process may have bound the address first; then its name server is ours as soon as it answers
_LOOK_PERIOD = 0.05  # [s]
_PING_TIMEOUT = 2.0  # [s]


class NetworkLife:
    """The state of this process: begun or not, with a network of its own or not."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._participants = 0  # that have begun and not left
        self._ended = threading.Event()
        self._private_server: NameServer | None = None
        self._former_settings: NetworkSettings | None = None

    @property
    def has_begun(self) -> bool:
        """Tell whether the network was initialised."""
        return participation.has_begun()

    @property
    def is_private(self) -> bool:
        """Tell whether this process has a network of its own."""
        return self._private_server is not None

    def begin(self, clock_kind: int = clock.YARP_CLOCK_DEFAULT) -> None:
        """Find the name server or become one, and choose the clock; does so once until all have left."""
        settings = current_settings()  # may be refused: then nothing has begun
        with self._lock:
            self._participants += 1
            if not participation.has_begun():
                participation.begin()
                _find_name_server(settings)
                registration_keeper.resume()
        clock.initialize_clock(clock_kind)

    def leave(self) -> None:
        """Undo one `begin`; the last one to leave ends the process's part, as with the real bindings."""
        with self._lock:
            self._participants -= 1
            if self._participants > 0:
                return
        self.end()

    def end(self) -> None:
        """Stop what `begin` started, whoever has begun; whoever waits for a port gives up."""
        ended, self._ended = self._ended, threading.Event()
        ended.set()
        clock.useSystemClock()
        with self._lock:
            participation.end()
            self._participants = 0
            registration_keeper.rest()  # else it would start the name server again
            self.set_private(False)
            stop_serving_names()

    def watch_end(self) -> Callable[[float], bool]:
        """Return a function that waits, [s], and returns True as soon as `end` is called after now."""
        return self._ended.wait

    def set_private(self, wanted: bool) -> None:
        """Begin or end a network that no other process sees."""
        with self._lock:
            if wanted and self._private_server is None:
                self._former_settings = current_settings()
                server = NameServer(replace(self._former_settings, name_server_host="127.0.0.1", name_server_port=0))
                server.start()
                self._private_server = server
                use_settings(replace(server.settings, listen_host="127.0.0.1", may_serve_names=False))
            elif not wanted and self._private_server is not None:
                self._private_server.stop()
                self._private_server = None
                use_settings(self._former_settings)


def name_server_answers(settings: NetworkSettings) -> bool:
    """Tell whether the name server answers now."""
    try:
        NameClient(settings, _PING_TIMEOUT).list_names(settings.namespace)
    except NameServerUnreachable:
        return False
    return True


def name_server_answers_within(settings: NetworkSettings, seconds: float) -> bool:
    """Tell whether the name server answers now or, asked again and again, before the time is over."""
    deadline = time.monotonic() + seconds
    while not name_server_answers(settings):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_PERIOD)
    return True


def _find_name_server(settings: NetworkSettings) -> None:
    if name_server_answers(settings):
        return
    where = f"{settings.name_server_host}:{settings.name_server_port}"
    found_in = settings.found_in or "the default address"
    if not is_loopback(settings.name_server_host) or not settings.may_serve_names:
        log.error("no name server answers at %s (%s); it is asked again when it is needed", where, found_in)
    elif not serve_names(settings) and not name_server_answers_within(settings, _RACE):
        log.error("no name server answers at %s (%s), and something else has that address", where, found_in)


life = NetworkLife()
