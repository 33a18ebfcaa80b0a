"""Offer the network as a whole: begin and end, names, connections, single messages."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import overload

from pureyarp.data import Portable, Value, YarpFolders, value_of
from pureyarp.errors import NameServerUnreachable, NetworkError
from pureyarp.network import clock
from pureyarp.network.name_server import NameServer
from pureyarp.network.peers import (
    CHOOSE,
    NameClient,
    connect,
    contact_of,
    disconnect,
    exists,
    is_connected,
    request,
    wait_for,
)
from pureyarp.network.registrations import (
    begin_participation,
    end_participation,
    has_begun,
    registration_keeper,
    serve_names,
    stop_serving_names,
)
from pureyarp.network.settings import (
    Contact,
    ContactStyle,
    NetworkSettings,
    current_settings,
    is_loopback,
    log,
    use_settings,
)
from pureyarp.network.subscriptions import END_WITH_DESTINATION, END_WITH_SOURCE
from pureyarp.wire import (
    ADMINISTRATION,
    CALL,
    CARRIERS,
    DATA,
    Element,
    decode_list,
    encode_list,
    encode_vocab,
    from_text,
)

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
        """Return whether the network was initialised."""
        return has_begun()

    @property
    def is_private(self) -> bool:
        """Return whether this process has a network of its own."""
        return self._private_server is not None

    def begin(self, clock_kind: int = clock.YARP_CLOCK_DEFAULT) -> None:
        """Find the name server or become one, and choose the clock; does so once until all have left."""
        settings = current_settings()  # may be refused: then nothing has begun
        with self._lock:
            self._participants += 1
            if not has_begun():
                begin_participation()
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
        """Stop what `begin` started, for all that have begun; calls that wait for a port give up."""
        ended, self._ended = self._ended, threading.Event()
        ended.set()
        clock.useSystemClock()
        with self._lock:
            end_participation()
            self._participants = 0
            registration_keeper.pause()  # else it would start the name server again
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
    """Return whether the name server answers now."""
    try:
        NameClient(settings, _PING_TIMEOUT).list_names(settings.namespace)
    except NameServerUnreachable:
        return False
    return True


def name_server_answers_within(settings: NetworkSettings, seconds: float) -> bool:
    """Return whether the name server answers now or, asked again and again, before the time is over."""
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


_DEFAULT_PORT_RANGE = 10000


class NetworkNames:
    """The functions of `Network` on names and on the name server."""

    @staticmethod
    def queryName(name: str) -> Contact:
        """Return where a port is; an invalid contact if that is not known."""
        given = Contact.fromString(name)
        return given if given.isValid() else _asked(lambda names: names.query(given.getRegName()))

    @staticmethod
    def registerName(name: str) -> Contact:
        """Register a name; the name server chooses its port number."""
        return _asked(lambda names: names.register(name))

    @staticmethod
    def registerContact(contact: Contact) -> Contact:
        """Register a name at an address."""
        return _asked(
            lambda names: names.register(
                contact.getRegName() or CHOOSE, contact.getCarrier(), contact.getHost(), contact.getPort()
            )
        )

    @staticmethod
    def unregisterName(name: str) -> Contact:
        """Let the name server forget a name; returns an invalid contact."""
        return _asked(lambda names: names.unregister(name))

    @staticmethod
    def unregisterContact(contact: Contact) -> Contact:
        """Let the name server forget a name; returns an invalid contact."""
        return NetworkNames.unregisterName(contact.getRegName())

    @staticmethod
    def setProperty(name: str, key: str, value: Value) -> bool:
        """Set a property of a registered port."""
        element = value.element
        return _is_granted(lambda names: names.set_property(name, key, *([] if element is None else [element])))

    @staticmethod
    def getProperty(name: str, key: str) -> Value:
        """Return the first value of a property of a registered port; a null value without port or property."""
        try:
            names = NameClient(current_settings())
            values = names.get_property(name, key) if names.query(name).isValid() else []
        except NetworkError as error:
            log.warning("property %s of %s is not known: %s", key, name, error)
            values = []
        return value_of(values[0] if values else None)

    @staticmethod
    def isValidPortName(portName: str) -> bool:
        """Return whether a port may be called so: ``/...`` without blanks, or ``...`` for an anonymous one."""
        if portName == CHOOSE:
            return True
        is_rooted = portName.startswith("/") and not portName.endswith("/")
        return is_rooted and not any(character.isspace() for character in portName)

    @staticmethod
    def getNameServerName() -> str:
        """Return the name server's own name."""
        return current_settings().namespace

    @staticmethod
    def setNameServerName(name: str) -> bool:
        """Change which name the name server has; its address stays."""
        use_settings(replace(current_settings(), namespace=name))
        return True

    @staticmethod
    def getNameServerContact() -> Contact:
        """Return where the name server should be."""
        settings = current_settings()
        return Contact(settings.namespace, "tcp", settings.name_server_host, settings.name_server_port)

    @staticmethod
    def setNameServerContact(nameServerContact: Contact) -> bool:
        """Change where this process looks for the name server; no file is written."""
        contact = nameServerContact
        use_settings(
            replace(
                current_settings(),
                namespace=contact.getRegName() or current_settings().namespace,
                name_server_host=contact.getHost(),
                name_server_port=contact.getPort(),
                found_in="setNameServerContact",
            )
        )
        return True

    @staticmethod
    def getConfigFile(fname: str) -> str:
        """Return the path of a file in YARP's folder of the user's configuration; it need not exist."""
        return str(YarpFolders.of(os.environ).config_home / fname)

    @staticmethod
    def getDefaultPortRange() -> int:
        """Return the name server's usual TCP port."""
        return _DEFAULT_PORT_RANGE


def _asked(question: Callable[[NameClient], Contact | None]) -> Contact:
    """Return the name server's answer, an invalid contact if there is none."""
    try:
        return question(NameClient(current_settings())) or Contact()
    except NetworkError as error:
        log.warning("%s", error)
        return Contact()


def _is_granted(request: Callable[[NameClient], bool]) -> bool:
    """Return whether the name server does what it is asked to."""
    try:
        return request(NameClient(current_settings()))
    except NetworkError as error:
        log.warning("%s", error)
        return False


_ADMINISTRATIVE_CARRIER = "text_ack"  # of the name server, too: it answers some questions by lines
_CARRIER = "tcp"
_ADDRESSEE = "NAME_SERVER "  # of a line, before the command
_LINE_TIMEOUT = 3.0  # [s] for the whole answer to a line
_MANY = encode_vocab("many")


def write_message(contact: Contact, command: Portable, reply: Portable | None, style: ContactStyle) -> bool:
    """Send ``command`` and fill ``reply``; False, with a line in the log, if that fails."""
    try:
        items = _reply_to(contact, command, style)
        if reply is not None and style.expectReply:
            reply.from_wire(encode_list(items))
    except NetworkError as error:
        (log.debug if style.quiet else log.warning)("%s was not written to: %s", contact.getName(), error)
        return False
    return True


def write_line_to_name_server(command: Portable, reply: Portable, style: ContactStyle) -> bool:
    """Send a line to the name server and fill ``reply`` with its answer, one string; False if that fails."""
    line = command.to_wire_text().removeprefix(_ADDRESSEE)
    timeout = _LINE_TIMEOUT if style.timeout < 0 else style.timeout
    try:
        if line.split()[:1] == ["bot"]:
            raise NetworkError(f"'{line}' is answered without an end line: write it to getNameServerContact()")
        lines = NameClient(current_settings(), timeout).command(line)
        reply.from_wire(encode_list(["\n".join(lines)]))
    except NetworkError as error:
        (log.debug if style.quiet else log.warning)("the name server was not written to: %s", error)
        return False
    return True


def _reply_to(contact: Contact, command: Portable, style: ContactStyle) -> list[Element]:
    is_name_server = contact.getRegName() == current_settings().namespace
    carrier = style.carrier or (_ADMINISTRATIVE_CARRIER if style.admin or is_name_server else _CARRIER)
    if carrier not in CARRIERS:
        raise NetworkError(f"carrier '{carrier}' is not spoken here (valid: {', '.join(CARRIERS)})")
    items = request(
        contact if contact.isValid() else contact_of(contact.toString_c()),
        decode_list(command.to_wire()).items,
        ADMINISTRATION if style.admin else CALL if style.expectReply else DATA,
        carrier=carrier,
        timeout=style.timeout if style.timeout >= 0 else None,
    )
    if items is None and style.expectReply:
        raise NetworkError("it gave no reply")
    if is_name_server and items and items[0] == _MANY and not style.admin:
        return from_text(str(items[1]))  # of its lines, the real bindings read the first
    return items or []


_LEVELS = {-1: "ERROR", 0: "WARNING", 1: "INFO"}
_USUAL_CARRIER = "tcp"  # of a question for a connection that names none
_DONE, _FAILED = 0, 1  # what poll and sendMessage return
_MODES = {ContactStyle.END_WITH_FROM_PORT: END_WITH_SOURCE, ContactStyle.END_WITH_TO_PORT: END_WITH_DESTINATION}


def _quiet(carrier: str | bool | ContactStyle, quiet: bool | None) -> bool | None:
    """Return which of the forms of arguments asks for quiet, None if none says anything."""
    if isinstance(carrier, ContactStyle):
        return carrier.quiet
    return carrier if isinstance(carrier, bool) else quiet


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
        """Let port ``src`` send to port ``dest``; with a persistent style the name server, whenever both are there."""
        if isinstance(carrier, ContactStyle) and carrier.persistent:
            by, mode = f"{carrier.carrier}:/" if carrier.carrier else "", _MODES.get(carrier.persistenceType, "")
            return _is_granted(lambda names: names.subscribe(src, by + dest, mode))
        wanted = carrier.carrier if isinstance(carrier, ContactStyle) else carrier
        return connect(src, dest, wanted, bool(_quiet(carrier, quiet)))

    @staticmethod
    def disconnect(src: str, dest: str, carrier: str | bool | ContactStyle = "", quiet: bool | None = None) -> bool:
        """Let port ``src`` no longer send to port ``dest``; a persistent style only ends what one has begun."""
        if isinstance(carrier, ContactStyle) and carrier.persistent:
            return _is_granted(lambda names: names.unsubscribe(src, dest))
        return disconnect(src, dest, bool(_quiet(carrier, quiet)))

    @staticmethod
    def isConnected(src: str, dest: str, carrier: str | bool | ContactStyle = "", quiet: bool | None = None) -> bool:
        """Return whether port ``src`` sends to port ``dest`` by this carrier, else by the one of ``dest``, else tcp."""
        wanted = carrier.carrier if isinstance(carrier, ContactStyle) else carrier
        named = wanted if isinstance(wanted, str) else ""
        by = named or Contact.fromString(dest).getCarrier() or _USUAL_CARRIER
        return is_connected(src, dest, by, _quiet(carrier, quiet) is not False)

    @staticmethod
    def exists(port: str, quiet: bool | ContactStyle = True, checkVer: bool = True) -> bool:
        """Return whether a port is registered, accepts connections and, with ``checkVer``, answers with its version."""
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
