"""Words of the two dialects that no recording holds."""

from __future__ import annotations

import pytest

from pureyarp.devices.control_board_protocol import Feature, NotInDialect, Request, RequestRefused, Verb
from pureyarp.devices.thrift_dialect import ThriftDialect
from pureyarp.devices.vocab_dialect import VocabDialect
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, Int16, Vocab32, WireFamily, encode_vocab
from pureyarp.wire.text import from_text, to_text

POSITION = int(encode_vocab("pos"))
GET, SET = Verb.GET, Verb.SET


class Line:
    """Answers every request with the same."""

    def __init__(self, reply: str = "", data: bytes = b"") -> None:
        self._reply, self._data = reply, data

    def ask(self, items: list[Element]) -> list[Element]:
        return from_text(self._reply)

    def ask_bytes(self, items: list[Element]) -> bytes:
        return self._data


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(SET, Feature.TARGET_POSITION, 1, [20.5]), "positionMoveOneRPC 1 20.5"),
        (Request(SET, Feature.TARGET_POSITION, None, [1.0, 2.0]), "positionMoveAllRPC (1.0 2.0)"),
        (Request(SET, Feature.TARGET_POSITION, (0, 2), [5.0, 6.0]), "positionMoveGroupRPC (0 2) (5.0 6.0)"),
        (Request(SET, Feature.STOP), "stopAllRPC"),
        (Request(GET, Feature.AXIS_NAME, 1), "getAxisNameRPC 1"),
        (Request(SET, Feature.POSITION_LIMITS, 1, [-1.0, 1.0]), "setPosLimitsRPC 1 -1.0 1.0"),
        (Request(SET, Feature.CONTROL_MODE, None, [Vocab32(POSITION)]), f"setControlModeAllRPC ({POSITION})"),
        (Request(GET, Feature.PID_ERROR, 2, (), POSITION), f"getPidErrorRPC {POSITION} 2"),
        (Request(GET, Feature.REMOTE_VARIABLE, "gain"), "getRemoteVariableRPC gain"),
        (Request(SET, Feature.REMOTE_VARIABLE, "gain", [1, 2]), "setRemoteVariableRPC gain (1 2)"),
    ],
)
def test_the_4_family_calls_methods(request_, said):
    assert to_text(ThriftDialect().encode(request_)) == said


def test_the_4_family_writes_calls_with_a_tag_before_every_element():
    data = encode_list(ThriftDialect().encode(Request(GET, Feature.AXES)), WireFamily.YARP_4)
    assert data == bytes.fromhex("0001000001000000040000000a000000") + b"getAxesRPC"


@pytest.mark.parametrize("feature", [Feature.POSITION_LIMITS, Feature.VELOCITY_LIMITS, Feature.PID_OFFSET])
def test_some_joints_are_integers_of_two_bytes(feature):
    assert isinstance(ThriftDialect().encode(Request(GET, feature, 1))[1], Int16)


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("([ok]) 3", [3]),
        ("([ok]) 0.5 100.0", [0.5, 100.0]),
        ("([ok]) (1.0 2.0)", [[1.0, 2.0]]),
        ("([ok]) [ok]", [1]),
        ("([ok]) [fail]", [0]),
    ],
)
def test_the_4_family_answers_with_a_status_first(reply, values):
    assert ThriftDialect().decode(Request(GET, Feature.AXES), from_text(reply)) == values


@pytest.mark.parametrize("reply", ["[err5]", "([err7]) 0", "([ok])", "", "3", '"ok" 3', "[fail]"])
def test_any_other_status_of_the_4_family_is_a_refusal(reply):
    with pytest.raises(RequestRefused):
        ThriftDialect().decode(Request(GET, Feature.AXES), from_text(reply))


@pytest.mark.parametrize("reply", ["", "[fail]", "[nak]", "[is] [axes]"])
def test_an_answer_of_the_3_family_without_a_value_is_a_refusal(reply):
    with pytest.raises(RequestRefused):
        VocabDialect().decode(Request(GET, Feature.AXES), from_text(reply))


def test_an_order_to_the_3_family_only_fails_by_fail():
    order = Request(SET, Feature.STOP)
    assert VocabDialect().decode(order, from_text("[nak]")) == []
    with pytest.raises(RequestRefused):
        VocabDialect().decode(order, from_text("[fail]"))


@pytest.mark.parametrize("dialect", [VocabDialect(), ThriftDialect()])
def test_what_a_family_has_no_words_for_is_named(dialect):
    with pytest.raises(NotInDialect, match="amplifier enable"):
        dialect.encode(Request(SET, Feature.AMPLIFIER_ENABLE))


def test_major_and_minor_version_of_the_3_family_must_be_ours():
    VocabDialect().check_protocol(Line("[prot] 1 9 7 [ok]"))
    for reply in ("[prot] 1 8 0 [ok]", "[prot] 2 9 0 [ok]", "[prot] 1 9", "[fail]", ""):
        with pytest.raises(RequestRefused):
            VocabDialect().check_protocol(Line(reply))


def test_the_service_number_of_the_4_family_must_be_ours():
    head = bytes.fromhex("0001000001000000")
    ThriftDialect().check_protocol(Line(data=head + bytes.fromhex("0000040000000000")))
    for data in (head + bytes.fromhex("0100040000000000"), head, b"", head + b"\0" * 12):
        with pytest.raises(RequestRefused):
            ThriftDialect().check_protocol(Line(data=data))


def test_a_board_of_the_4_family_must_tell_its_interfaces():
    ThriftDialect().introduce(Line("([ok]) ((iMotor [ok]))"))
    with pytest.raises(RequestRefused):
        ThriftDialect().introduce(Line("([err5])"))
