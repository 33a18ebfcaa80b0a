"""The dialect of YARP 4.x: methods of a generated (thrift) service."""

from __future__ import annotations

from gradiva.middleware.control_board.thrift_forms import THRIFT_FORMS, ThriftForm
from pureyarp.devices.dialect import Dialect, NotInDialect, RequestLine, RequestRefused
from pureyarp.devices.request import Request, Scope, Verb
from pureyarp.wire.elements import Element, Int16, PlainList, Vocab32, WireFamily, decode_vocab, encode_vocab

_VERSION = 0
_HEADER_SIZE = 8  # [bytes]
_VERSION_SIZE = 16  # [bytes] with header
_OK = encode_vocab("ok")
_TRUTH: dict[Element, Element] = {_OK: 1, encode_vocab("fail"): 0}


class ThriftDialect(Dialect):
    """``getTargetPositionOneRPC 1`` is answered ``([ok]) 20.5``, ``positionMoveOneRPC 1 20.5`` is answered ``[ok]``."""

    family = WireFamily.YARP_4
    rpc_server = "/nws/rpc:i"
    rpc_client = "/nwc/rpc:o"
    default_carrier = "fast_tcp"
    rpc_comes_first = False

    def encode(self, request: Request) -> list[Element]:
        """Return method, control loop, joints and values, in this order."""
        form = THRIFT_FORMS.get(request.feature, ThriftForm())
        words = PlainList([_method(form, request)])
        if request.controller is not None:
            words.append(int(request.controller))
        words.extend(_joints(form, request))
        words.extend(_values(request))
        return words

    def decode(self, request: Request, reply: list[Element]) -> list[Element]:
        """Return what follows the return value, or raise RequestRefused with the board's error."""
        outcome = _outcome(reply)
        if outcome != _OK:
            error = f"[{decode_vocab(outcome)}]" if isinstance(outcome, int) else repr(outcome)
            raise RequestRefused(f"the board answers {error} to {request.feature.name.lower()}")
        if request.verb is Verb.GET and len(reply) < 2:
            raise RequestRefused(f"the board answers {request.feature.name.lower()} without a value")
        return [_TRUTH.get(value, value) if isinstance(value, Vocab32) else value for value in reply[1:]]

    def check_protocol(self, line: RequestLine) -> None:
        """Ask for the version: the header of a list of one, then bare integers, of which the first must be ours."""
        reply = line.ask_bytes(PlainList(["getRemoteProtocolVersion"]))
        version = int.from_bytes(reply[_HEADER_SIZE : _HEADER_SIZE + 2], "little", signed=True)
        if len(reply) != _VERSION_SIZE or version != _VERSION:
            raise RequestRefused(f"the board answers {reply.hex()} when asked for its protocol, not {_VERSION}")

    def introduce(self, line: RequestLine) -> None:
        """Ask which interfaces the board's device has; what it lacks is refused when it is asked for."""
        reply = line.ask(PlainList(["getDeviceInterfacesRPC"]))
        if not reply or _outcome(reply) != _OK:
            raise RequestRefused(f"the board answers {reply!r:.60} when asked for its interfaces")


def _outcome(reply: list[Element]) -> Element | None:
    status = reply[0] if reply else None
    return status[0] if isinstance(status, list) and status else status


def _method(form: ThriftForm, request: Request) -> str:
    methods = form.get if request.verb is Verb.GET else form.set
    of = request.of
    method = methods.one if isinstance(of, int | str) else methods.all if of is None else methods.group
    if not method:
        feature = request.feature.name.lower().replace("_", " ")
        raise NotInDialect(f"control boards of YARP 4 have no method to {request.verb.value} {feature} {_whom(of)}")
    return method


def _joints(form: ThriftForm, request: Request) -> list[Element]:
    if request.of is None:
        return []
    if isinstance(request.of, tuple):
        return [list(request.of)]
    # An integer of two bytes is also accepted where the service expects four, but not the other way round.
    return [Int16(request.of) if form.narrow_joint and isinstance(request.of, int) else request.of]


def _values(request: Request) -> list[Element]:
    values = list(request.values)
    if not values:
        return []
    if isinstance(request.of, str):
        return [values]
    plain: list[Element] = [int(value) if isinstance(value, Vocab32) else value for value in values]
    return plain if isinstance(request.of, int) else [plain]


def _whom(of: Scope) -> str:
    return "of all joints" if of is None else f"of {of}"
