"""Answers as the real bindings were recorded to answer where pureyarp differs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import pureyarp as api
from pureyarp.application import rf_module
from pureyarp.devices.device_ports import ConnectionKeeper
from pureyarp.devices.remote_control_board import ControlBoardPorts
from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.buffered_ports import BufferedPort
from pureyarp.network.byte_stream import open_socket
from pureyarp.network.name_server import NameServer
from pureyarp.network.peers import NameClient
from pureyarp.network.registrations import PortRegistration
from pureyarp.network.settings import current_settings

from ._journal import end_process, note, place

_FIRST_TICK = 60.0  # [s] of a clock that is followed; longer is for ever
_SMALLEST_VOCAB = 2**16  # of control loops: small integers end the board's process

_opened: dict[int, str] = {}  # ports of this process by the identity of their core
_limited: set[int] = set()  # cores whose questions have a time limit
_SLOW_WRITE, _SENDING_TIME = 200, 0.03  # each so many messages of a port take so long, [s]
_written: dict[int, int] = {}  # messages, by the identity of a port's core
_sending_until: dict[int, float] = {}
_serving: WeakSet[NameServer] = WeakSet()  # in this process
_interrupted: WeakSet[BufferedPort] = WeakSet()  # and not resumed, opened again though they may be
_life = {"begun": 0}


# -- the network ---------------------------------------------------------------------------------------------------


def _begin(*arguments: Any) -> None:
    _life["begun"] += 1
    api.Network.init(*arguments)


def _end() -> None:
    if api.isNetworkClock():
        end_process("Network.fini() while a network clock is in use crashes")
    _life["begun"] -= 1
    api.Network.fini()


def _is_connected(source: str, destination: str, *rest: Any) -> bool:
    carrier = next((one if isinstance(one, str) else one.carrier for one in rest if not isinstance(one, bool)), "")
    return bool(api.Network.isConnected(source, destination, carrier or "tcp", True))


def _connect(source: str, destination: str, *rest: Any) -> bool:
    is_made = bool(api.Network.connect(source, destination, *rest))
    if is_made:
        note(f"connected {source} {destination}")
    return is_made


def _write(contact: Any, command: Any, reply: Any, *rest: Any) -> bool:
    style = rest[0] if rest and not isinstance(rest[0], bool) else None
    timeout = style.timeout if style is not None else rest[2] if len(rest) > 2 else -1.0
    if timeout < 0.0:
        note(f"a question without a time limit, at {place()}")
    begin = time.monotonic()
    if api.Network.write(contact, command, reply, *rest):
        return True
    is_late = timeout >= 0.0 and time.monotonic() - begin >= 0.9 * timeout
    if is_late:
        reply.clear()  # and yet it is True
    return is_late


def _write_to_name_server(command: Any, *rest: Any) -> bool:
    if command.get(0).asString() == "bot":
        end_process("writeToNameServer never returns for bot commands")
    return bool(api.Network.writeToNameServer(command, *rest))


def _wait_for(port: str, *_: Any) -> bool:
    if not api.Network.exists(port):
        end_process(f"{port} is waited for, which is not there: that never returns")
    return True


def _open(port: Any, name: Any = "", *rest: Any) -> bool:
    text = name if isinstance(name, str) else name.getName()
    if not _life["begun"]:
        return False
    is_own = _opened.get(id(port._core)) == text and port.isOpen() if hasattr(port, "isOpen") else False
    if text not in ("", "...") and not is_own and api.Network.exists(text):
        return False
    if isinstance(name, str) and _conflicts(name):
        note(f"address conflict of {name}")
        return False
    is_open = type(port).open(port, name, *rest)
    if is_open:
        _opened[id(port._core)] = text
    return bool(is_open)


def _conflicts(name: str) -> bool:
    """Return whether the number that the name server has for a name is another port's, of which it knows nothing."""
    names = NameClient(current_settings())
    try:
        contact = names.register(name or "...")
    except NetworkError:  # it is no name: the port will say so
        return False
    names.unregister(contact.getRegName())
    try:
        open_socket(contact.getHost(), contact.getPort(), current_settings(), 0.5).close()
    except PeerUnreachable:
        return False
    return True


class _NoSignals(AbstractContextManager[None]):
    """Takes no signals: the real module's handler is no Python, and runs some wherever the interpreter is."""

    first = ""

    def __init__(self, stop: Callable[[], object]) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


rf_module.TerminationSignals = _NoSignals  # type: ignore[assignment,misc]

# The real bindings register a port once; pureyarp would keep it registered.
PortRegistration._keeper = SimpleNamespace(  # type: ignore[assignment]
    keep=lambda *_: None, forget=lambda *_: True, kept_contact=lambda *_: None
)


def _close(port: Any) -> None:
    if _serving and isinstance(port, BufferedPort):
        end_process(f"close of {port.getName()} holds the interpreter, which the names that are served here need")
    _opened.pop(id(port._core), None)
    type(port).close(port)


def _watched(change: Callable[[Any], object], note_change: Callable[[Any], object]) -> Callable[[Any], None]:
    def call(server: Any) -> None:
        change(server)
        note_change(server)

    return call


NameServer.start = _watched(NameServer.start, _serving.add)  # type: ignore[method-assign]
NameServer.stop = _watched(NameServer.stop, _serving.discard)  # type: ignore[method-assign]


# -- reading and asking --------------------------------------------------------------------------------------------


def _read_buffered(port: Any, should_wait: bool = True) -> Any:
    if should_wait:
        end_process(f"read(True) of {port.getName()} holds the interpreter")
    return None if port in _interrupted else type(port).read(port, False)


def _interrupt_buffered(port: Any) -> None:
    _interrupted.add(port)
    type(port).interrupt(port)


def _resume_buffered(port: Any) -> None:
    _interrupted.discard(port)
    type(port).resume(port)


def _write_buffered(port: Any, is_strict: bool = False) -> None:
    if _sends(port, is_strict):
        type(port).write(port, is_strict)
    else:
        port.unprepare()


def _sends(port: Any, is_strict: bool) -> bool:
    """Return whether a message is sent: one that is not strict is dropped while the last one is being sent.

    That takes long once in a while.
    """
    if is_strict:
        time.sleep(max(0.0, _sending_until.get(id(port._core), 0.0) - time.monotonic()))
    elif _is_writing(port):
        return False
    count = _written[id(port._core)] = _written.get(id(port._core), 0) + 1
    if count % _SLOW_WRITE == 0:
        _sending_until[id(port._core)] = time.monotonic() + _SENDING_TIME
    return True


def _is_writing(port: Any) -> bool:
    return bool(time.monotonic() < _sending_until.get(id(port._core), 0.0) or type(port).isWriting(port))


def _set_timeout(port: Any, timeout: float) -> bool:
    _limited.add(id(port._core))
    return bool(type(port).setTimeout(port, timeout))


def _ask(port: Any, *messages: Any) -> bool:
    if len(messages) > 1 and id(port._core) not in _limited:
        note(f"a question without a time limit, at {place()}")
    return bool(type(port).write(port, *messages))


# -- time ----------------------------------------------------------------------------------------------------------


def _now() -> float:
    if not _life["begun"]:
        end_process("now() before Network.init")
    return api.now()


def _use_network_clock(clock: str, *rest: str) -> None:
    if clock in _opened.values():
        end_process(f"useNetworkClock in the process of {clock} never returns")
    port, style = api.BufferedPortBottle(), api.ContactStyle(persistent=True, quiet=True)
    port.open("...")
    api.Network.connect(clock, port.getName(), style)
    deadline = time.monotonic() + _FIRST_TICK
    while port.read(False) is None:  # it has no other connection
        if time.monotonic() > deadline:
            end_process(f"useNetworkClock waits for {clock}, which does not tick or is not connected")
        time.sleep(0.001)
    api.Network.disconnect(clock, port.getName(), style)
    port.close()
    api.useNetworkClock(clock, *rest)


def _delay(seconds: float) -> None:
    if api.isNetworkClock():
        end_process("delay on a simulated clock, which may stand still")
    api.delay(seconds)


# -- what is called back -------------------------------------------------------------------------------------------


def _without_exception(call: Callable[[], Any], *_: Any) -> Any:
    try:
        result = call()
    except Exception as error:
        end_process(f"{error!r} left a method that YARP called")
    return result


def _read_message(call: Callable[[], Any], *_: Any) -> bool:
    return _truth(_without_exception(call))


def _respond(call: Callable[[], Any], command: Any, reply: Any) -> bool:
    is_answered = _truth(_without_exception(call))
    if is_answered and not reply.size():
        end_process(f"respond to '{command.toString()}' has no reply: who asked hangs")
    return is_answered


def _step(call: Callable[[], Any], *_: Any) -> bool:
    return _truth(call())


def _period(call: Callable[[], Any], *_: Any) -> float:
    return float(call())


def _truth(result: Any) -> bool:
    if not isinstance(result, bool):
        end_process(f"{result!r} was returned where YARP wants a bool")
    return bool(result)


def _name(module: Any, suffix: str = "") -> str:
    if suffix and not suffix.startswith("/"):
        note(f"SubName in getName() does not begin with '/': {suffix}, at {place()}")
    return str(type(module).getName(module, suffix))


# -- devices -------------------------------------------------------------------------------------------------------

_ALL_JOINTS = {
    "IEncoders": ("getEncoders", "getEncoderSpeeds", "getEncoderAccelerations"),
    "IEncodersTimed": ("getEncodersTimed",),
    "ITorqueControl": ("getTorques", "setRefTorques", "getRefTorques"),
    "IPositionControl": ("positionMove", "setRefSpeeds", "setRefAccelerations"),
    "IPositionDirect": ("setPositions", "getRefPositions"),
    "IVelocityControl": ("velocityMove", "setRefAccelerations"),
    "IControlMode": ("getControlModes", "setControlModes"),
    "IInteractionMode": ("getInteractionModes", "setInteractionModes"),
    "IMotor": ("getTemperatures",),
}
_OF_LOOPS = ("getPid", "getPids", "setPid", "setPids", "getPidReference", "getPidReferences", "isPidEnabled")


def _of_all_joints(name: str) -> Callable[..., Any]:
    def call(view: Any, *arguments: Any) -> Any:
        axes = view._board.axes if hasattr(view, "_board") else 0
        if len(arguments) <= 2 and not isinstance(arguments[0], int):
            for array in arguments:
                if len(array) < axes:
                    end_process(f"{name} overruns an array of {len(array)} for {axes} joints")
        return getattr(type(view), name)(view, *arguments)

    return call


def _of_loop(name: str) -> Callable[..., Any]:
    def call(view: Any, loop: int, *arguments: Any) -> Any:
        if loop < _SMALLEST_VOCAB:
            end_process(f"{name} of the loop {loop}, which is no vocab, ends the board's process")
        return getattr(type(view), name)(view, loop, *arguments)

    return call


def _open_device(driver: Any, config: Any) -> bool:
    """Open it unless its ports are there: a second one of the same ``local`` is not valid."""
    local = config.find("local").asString() or config.find("localPortPrefix").asString()
    if local and any(api.Network.exists(local + end) for end in ("/rpc:o", "/measures:i", "/stateExt:i")):
        return False
    return bool(type(driver).open(driver, config))


def _command(send: Callable[..., None]) -> Callable[..., None]:
    def call(ports: Any, message: Any, strict: bool) -> None:
        if _sends(ports._command, strict):
            send(ports, message, strict)

    return call


ControlBoardPorts.send = _command(ControlBoardPorts.send)  # type: ignore[method-assign]

# The real devices make their connections once.
ConnectionKeeper.start = lambda _: None  # type: ignore[method-assign,assignment,misc]

_BUFFERED = ("BufferedPortBottle", "BufferedPortVector", "BufferedPortProperty")
MANNERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("Network", "init"): _begin,
    ("Network", "fini"): _end,
    ("NetworkBase", "isConnected"): _is_connected,
    ("NetworkBase", "connect"): _connect,
    ("NetworkBase", "write"): _write,
    ("NetworkBase", "writeToNameServer"): _write_to_name_server,
    ("NetworkBase", "waitPort"): _wait_for,
    ("NetworkBase", "sync"): _wait_for,
    ("Contactable", "open"): _open,
    ("Contactable", "close"): _close,
    ("TypedReaderBottle", "read"): _read_buffered,
    ("TypedReaderVector", "read"): _read_buffered,
    ("TypedReaderProperty", "read"): _read_buffered,
    **{(kind, "interrupt"): _interrupt_buffered for kind in _BUFFERED},
    **{(kind, "resume"): _resume_buffered for kind in _BUFFERED},
    **{(kind, "write"): _write_buffered for kind in _BUFFERED},
    **{(kind, "isWriting"): _is_writing for kind in _BUFFERED},
    ("Port", "setTimeout"): _set_timeout,
    ("Port", "write"): _ask,
    ("RpcClient", "write"): _ask,
    ("RFModule", "getName"): _name,
    ("PolyDriver", "open"): _open_device,
    **{(view, name): _of_all_joints(name) for view, names in _ALL_JOINTS.items() for name in names},
    **{("IPidControl", name): _of_loop(name) for name in _OF_LOOPS},
}
"""Methods and static functions, by class of the bindings; they take and return objects of pureyarp."""

DIRECTED: dict[str, dict[str, Callable[..., Any]]] = {
    "PortReader": {"read": _read_message},
    "BottleCallback": {"onRead": _without_exception},
    "VectorCallback": {"onRead": _without_exception},
    "RFModule": {
        "configure": _step,
        "updateModule": _step,
        "interruptModule": _step,
        "close": _step,
        "getPeriod": _period,
        "respond": _respond,
        "safeRespond": _respond,
    },
}
"""Methods that the suite overrides and YARP calls: what is done with a call of the suite's own."""

FUNCTIONS = {"now": _now, "useNetworkClock": _use_network_clock, "delay": _delay}
