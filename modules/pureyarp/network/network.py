"""A process's view of the whole network: names, connections, single messages."""

from __future__ import annotations

from typing import overload

from pureyarp.data.streams import Portable
from pureyarp.network import clock
from pureyarp.network.connecting import connect, disconnect, is_connected
from pureyarp.network.contact import Contact
from pureyarp.network.contact_style import ContactStyle
from pureyarp.network.current_settings import current_settings
from pureyarp.network.existence import exists, wait_for
from pureyarp.network.log import log
from pureyarp.network.network_life import life, name_server_answers_within
from pureyarp.network.network_messages import write_line_to_name_server, write_message
from pureyarp.network.network_names import NetworkNames

_LEVELS = {-1: "ERROR", 0: "WARNING", 1: "INFO"}
_USUAL_CARRIER = "tcp"  # of a question for a connection that names none
_DONE, _FAILED = 0, 1  # what poll and sendMessage return


def _quiet(carrier: str | bool | ContactStyle, quiet: bool | None) -> bool | None:
    """Return which of the forms of arguments asks for quiet, None if none says anything."""
    if isinstance(carrier, ContactStyle):
        return carrier.quiet
    return carrier if isinstance(carrier, bool) else quiet


def _is_persistent(carrier: str | bool | ContactStyle) -> bool:
    return isinstance(carrier, ContactStyle) and carrier.persistent


class NetworkBase(NetworkNames):
    """Static functions on the network; where one returns False, a line in the log ``pureyarp`` says why.

    Lines of questions, whose False is an answer (`exists`, `isConnected`), and of ``quiet`` calls are for debugging.
    """

    @staticmethod
    def initMinimum(clockType: int = clock.YARP_CLOCK_DEFAULT) -> None:
        """Find the name server; on loopback become one if there is none. Then choose the clock."""
        life.begin(clockType)

    @staticmethod
    def autoInitMinimum(clockType: int = clock.YARP_CLOCK_DEFAULT) -> None:
        """Do `initMinimum` unless it is done."""
        if not life.has_begun:
            life.begin(clockType)

    @staticmethod
    def finiMinimum() -> None:
        """Leave the network, once for every `initMinimum`."""
        life.leave()

    @staticmethod
    def initialized() -> bool:
        """Return whether the network was initialised."""
        return life.has_begun

    @staticmethod
    def isNetworkInitialized() -> bool:
        """Return whether the network was initialised."""
        return life.has_begun

    @staticmethod
    def yarpClockInit(clockType: int) -> None:
        """Choose the clock; waits for the first time of a simulated one."""
        clock.initialize_clock(clockType)

    @staticmethod
    def checkNetwork(timeout: float = 0.0) -> bool:
        """Return whether the name server answers, trying for ``timeout`` seconds."""
        return name_server_answers_within(current_settings(), timeout)

    @staticmethod
    def connect(src: str, dest: str, carrier: str | ContactStyle = "", quiet: bool | None = None) -> bool:
        """Let port ``src`` send to port ``dest``; a persistent style is always True, and made as far as both exist."""
        wanted = carrier.carrier if isinstance(carrier, ContactStyle) else carrier
        is_made = connect(src, dest, wanted, bool(_quiet(carrier, quiet)))
        return is_made or _is_persistent(carrier)

    @staticmethod
    def disconnect(src: str, dest: str, carrier: str | bool | ContactStyle = "", quiet: bool | None = None) -> bool:
        """Let port ``src`` no longer send to port ``dest``; with a persistent style always True."""
        return disconnect(src, dest, bool(_quiet(carrier, quiet))) or _is_persistent(carrier)

    @staticmethod
    def isConnected(src: str, dest: str, carrier: str | bool | ContactStyle = "", quiet: bool | None = None) -> bool:
        """Return whether port ``src`` sends to port ``dest`` by this carrier, else by the one of ``dest``, else tcp."""
        wanted = carrier.carrier if isinstance(carrier, ContactStyle) else carrier
        named = wanted if isinstance(wanted, str) else ""
        by = named or Contact.fromString(dest).getCarrier() or _USUAL_CARRIER
        return is_connected(src, dest, by, _quiet(carrier, quiet) is not False)

    @staticmethod
    def exists(port: str, quiet: bool | ContactStyle = True, checkVer: bool = True) -> bool:
        """Return whether a port is registered, accepts connections and, with ``checkVer``, tells its version."""
        return exists(port, _quiet(quiet, None) is not False, checkVer)

    @staticmethod
    def sync(port: str, quiet: bool = True) -> bool:
        """Return whether a port is there and answers."""
        return exists(port, quiet)

    @staticmethod
    def poll(target: str, silent: bool = False) -> int:
        """Return 0 if a port answers, else 1."""
        return _DONE if exists(target, silent) else _FAILED

    @staticmethod
    def waitPort(target: str, quiet: bool = False) -> bool:
        """Wait until a port is there; False if the network ends before."""
        return wait_for(lambda: exists(target), target, quiet, life.watch_end())

    @staticmethod
    def waitConnection(source: str, destination: str, quiet: bool = False) -> bool:
        """Wait until port ``source`` sends to port ``destination``; False if the network ends before."""
        what = f"a connection from {source} to {destination}"
        return wait_for(lambda: is_connected(source, destination), what, quiet, life.watch_end())

    @overload
    @staticmethod
    def write(port: str, cmd: Portable, reply: Portable) -> bool: ...
    @overload
    @staticmethod
    def write(port: Contact, cmd: Portable, reply: Portable, admin: ContactStyle) -> bool: ...
    @overload
    @staticmethod
    def write(
        port: Contact, cmd: Portable, reply: Portable, admin: bool = False, quiet: bool = False, timeout: float = -1
    ) -> bool: ...
    @staticmethod
    def write(
        port: str | Contact,
        cmd: Portable,
        reply: Portable,
        admin: bool | ContactStyle = False,
        quiet: bool = False,
        timeout: float = -1,
    ) -> bool:
        """Send a message to a port, or with ``admin`` to what administrates it, and read the reply; timeout in [s]."""
        contact = Contact(port) if isinstance(port, str) else port
        style = admin if isinstance(admin, ContactStyle) else ContactStyle(admin=admin, quiet=quiet, timeout=timeout)
        return write_message(contact, cmd, reply, style)

    @staticmethod
    def sendMessage(port: str, writable: Portable, silent: bool = False) -> int:
        """Send a message to a port without awaiting a reply; return 0, or 1 if that fails."""
        style = ContactStyle(quiet=silent, expectReply=False)
        return _DONE if write_message(Contact(port), writable, None, style) else _FAILED

    @staticmethod
    def writeToNameServer(cmd: Portable, reply: Portable, style: ContactStyle) -> bool:
        """Send a line to the name server and read its lines of answer as one string.

        False for ``bot`` commands, whose answer has no end line that could be waited for: the real bindings never
        return from them. They are asked by `write` to `getNameServerContact`.
        """
        return write_line_to_name_server(cmd, reply, style)

    @staticmethod
    def setLocalMode(flag: bool) -> bool:
        """Begin or end a network that only this process sees; returns whether there was one before."""
        former = life.is_private
        life.set_private(flag)
        return former

    @staticmethod
    def getLocalMode() -> bool:
        """Return whether this process has a network of its own."""
        return life.is_private

    @staticmethod
    def localNetworkAllocation() -> bool:
        """Return whether port numbers are chosen without the name server: never."""
        return False

    @staticmethod
    def setVerbosity(verbosity: int) -> None:
        """Choose what is logged: -1 errors, 0 warnings, 1 what happens, 2 everything."""
        log.setLevel(_LEVELS.get(max(verbosity, -1), "DEBUG"))

    @staticmethod
    def assertion(shouldBeTrue: bool) -> None:
        """Raise AssertionError unless true."""
        if not shouldBeTrue:
            raise AssertionError("yarp.Network.assertion")


class Network(NetworkBase):
    """Takes part in the network from its construction; `fini` ends that."""

    def __init__(self, clockType: int = clock.YARP_CLOCK_DEFAULT) -> None:
        life.begin(clockType)

    @staticmethod
    def init(clockType: int = clock.YARP_CLOCK_DEFAULT) -> None:
        """Find the name server; on loopback become one if there is none. Then choose the clock."""
        life.begin(clockType)

    @staticmethod
    def fini() -> None:
        """Leave the network, once for every `init`; at the last one, the name server of this process stops."""
        life.leave()
