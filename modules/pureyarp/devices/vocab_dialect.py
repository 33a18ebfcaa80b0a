"""The dialect of YARP 3.x: vocabularies of at most four letters."""

from __future__ import annotations

from gradiva.middleware.control_board.vocab_forms import VOCAB_FORMS, VocabForm
from pureyarp.devices.dialect import Dialect, NotInDialect, RequestLine, RequestRefused
from pureyarp.devices.request import Request, Scope, Verb
from pureyarp.wire.elements import Element, Vocab32, WireFamily, encode_vocab

_FAIL = encode_vocab("fail")
_VERSION = (1, 9)


class VocabDialect(Dialect):
    """``[get] [pos] 1`` is answered ``[is] [pos] 20.5 [tsta] 4 1700000000.5 [ok]``."""

    family = WireFamily.YARP_3
    rpc_server = "/rpc:i"
    rpc_client = "/rpc:o"
    default_carrier = "udp"
    rpc_comes_first = True

    def encode(self, request: Request) -> list[Element]:
        """Return verb, interface, word, control loop, joints and values, in this order."""
        form = VOCAB_FORMS[request.feature]
        words: list[Element] = [encode_vocab(request.verb.value)]
        words += [encode_vocab(word) for word in (form.prefix, _word(form, request)) if word]
        if request.controller is not None:
            words.append(Vocab32(request.controller))
        return words + _joints(request.of) + _values(form, request)

    def decode(self, request: Request, reply: list[Element]) -> list[Element]:
        """Return the values at their fixed place; only ``[fail]`` is a refusal, as for real clients."""
        if not reply or reply[0] == _FAIL:
            raise RequestRefused(f"the board answers {reply} to {_said(request)}")
        if request.verb is Verb.SET:
            return []
        form = VOCAB_FORMS[request.feature]
        values = reply[form.first : form.first + form.width]
        if len(values) < form.width:
            raise RequestRefused(f"the board answers {reply} to {_said(request)}, which holds no value")
        return _unpacked(form, request, values)

    def check_protocol(self, line: RequestLine) -> None:
        """Ask ``[get] [prot]``; major and minor version must be ours, the third number does not matter."""
        reply = line.ask([encode_vocab("get"), encode_vocab("prot")])
        if len(reply) != 5 or reply[0] != encode_vocab("prot") or tuple(reply[1:3]) != _VERSION:
            spoken = " ".join(map(str, _VERSION))
            raise RequestRefused(f"the board answers {reply} when asked for its protocol, which must be {spoken}")

    def introduce(self, line: RequestLine) -> None:
        """Ask nothing: all boards of this family offer every interface."""


def _word(form: VocabForm, request: Request) -> str:
    word = form.one if isinstance(request.of, int | str) else form.all if request.of is None else form.group
    if not word:
        raise NotInDialect(f"control boards of YARP 3 cannot {_said(request)}")
    return word


def _joints(of: Scope) -> list[Element]:
    if of is None:
        return []
    return [of] if isinstance(of, int | str) else [len(of), list(of)]


def _values(form: VocabForm, request: Request) -> list[Element]:
    values = list(request.values)
    if not values:
        return []
    flat = isinstance(request.of, int | str) and not form.packed
    return values if flat else [values]


def _unpacked(form: VocabForm, request: Request, values: list[Element]) -> list[Element]:
    if form.packed and isinstance(request.of, int) and isinstance(values[0], list):
        return values[0]
    return values


def _said(request: Request) -> str:
    scope = "all joints" if request.of is None else request.of
    return f"{request.verb.value} {request.feature.name.lower().replace('_', ' ')} of {scope}"
