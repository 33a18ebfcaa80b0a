"""Messages that real programs sent are understood, and would be sent in the same bytes."""

import pytest

from pureyarp.wire import (
    Element,
    Int8,
    Int16,
    Int64,
    PlainList,
    TypedList,
    Vocab32,
    WireFamily,
    decode_list,
    encode_list,
    encode_vocab,
    encoded_size,
    from_text,
    is_complete,
    to_text,
)
from tests.middleware.recorded_payloads import RecordedPayload, as_printed, recorded_lines, recorded_payloads

OK, FAIL = encode_vocab("ok"), encode_vocab("fail")


def everything(flag: Vocab32, byte: int, text: str, points: list[Element]) -> list[Element]:
    """Return a generated struct of all field types, as generated code writes it: empty lists have an element type."""
    numbers: list[Element] = [Int8(byte), Int16(0), 0, Int64(0), 0.0]
    lists: list[Element] = [TypedList(int), TypedList(str), points, []]
    return [flag, *numbers, text, b"", 0, *lists, 0.0, 0, TypedList(Vocab32), TypedList(int), 0.0, [], 0]


def sensor(*names: str) -> Element:
    return [PlainList(names)]


SENSORS = [sensor("imu0", "frame0", "")] * 4 + [
    sensor("imu0_temp", "frame0_temp", ""),
    sensor("imu0_ft", "frame0_ft", ""),
    sensor("imu0_cell", "", ""),
    sensor("imu0_enc", "", ""),
    sensor("imu0_skin", "", ""),
    [],
    [],
    [],
]
ONE_POINT: list[Element] = [[1.5, 7]]

# Objects that the rule "one type, one tag" does not write: generated code never applies it to calls, replies and
# structs, vectors are marked even if they are empty, and one answer of yarprun is not marked.
UNUSUAL: dict[tuple[str, str], list[Element]] = {
    ("vector_tcp", ""): TypedList(float),
    ("v4_vector_tcp", ""): TypedList(float),
    ("mas", "getMetadata"): PlainList(["getMetadata"]),
    ("mas", as_printed(SENSORS)): SENSORS,
    ("thrift_rpc", "3"): PlainList([3]),
    ("thrift_rpc", "42.5"): PlainList([42.5]),
    ("thrift_rpc", "[ok]"): PlainList([OK]),
    ("thrift_rpc", "[fail]"): PlainList([FAIL]),
    ("thrift_rpc", "doNothing"): PlainList(["doNothing"]),
    ("thrift_rpc", "values"): PlainList(["values"]),
    ("thrift_rpc", '"abc!"'): PlainList(["abc!"]),
    ("thrift_rpc", "307"): PlainList([307]),
    ("thrift_rpc", "[get] [map]"): PlainList([encode_vocab("get"), encode_vocab("map")]),
    ("thrift_rpc", "6"): PlainList([6]),
    ("thrift_rpc", "everything [ok] -3 0 0 0 0.0 s {} 0 () () ((1.5 7)) () 0.0 0 () () 0.0 () 0"): [
        "everything",
        *everything(OK, -3, "s", ONE_POINT),
    ],
    ("thrift_rpc", "[ok] -3 0 0 0 0.0 s {} 0 () () ((1.5 7)) () 0.0 0 () () 0.0 () 0"): everything(
        OK, -3, "s", ONE_POINT
    ),
    ("thrift_struct", '[fail] 0 0 0 0 0.0 "" {} 0 () () () () 0.0 0 () () 0.0 () 0'): everything(FAIL, 0, "", []),
    ("yarprun", '"/usr/bin/sleep"'): PlainList(["/usr/bin/sleep"]),
}
NOT_REPRODUCED: set[tuple[str, str]] = set()


def is_unusual(payload: RecordedPayload) -> bool:
    return encode_list(decode_list(payload.data, payload.family).items, payload.family) != payload.data


def test_there_are_as_many_objects_as_were_recorded():
    families = [payload.family for payload in recorded_payloads()]
    assert (families.count(WireFamily.YARP_3), families.count(WireFamily.YARP_4)) == (642, 40)


@pytest.mark.parametrize("given", list(WireFamily))
def test_every_object_decodes_without_remainder_whichever_family_is_expected(given):
    for payload in recorded_payloads():
        decoded = decode_list(payload.data, given)
        assert (as_printed(decoded.items), decoded.size) == (payload.decoded, len(payload.data)), payload.recording


def test_every_object_with_floats_shows_its_family():
    for payload in recorded_payloads():
        other = decode_list(payload.data, payload.family.other)
        assert other.family is payload.family or encode_list(other.items, payload.family.other) == encode_list(
            other.items, payload.family
        )


def test_every_object_is_encoded_as_it_was_recorded_but_for_the_unusual_ones():
    unusual = {(payload.recording, payload.decoded) for payload in recorded_payloads() if is_unusual(payload)}
    assert unusual == set(UNUSUAL) | NOT_REPRODUCED


def test_the_unusual_objects_are_reproduced_by_saying_how_they_are_written():
    for payload in filter(is_unusual, recorded_payloads()):
        items = UNUSUAL[payload.recording, payload.decoded]
        assert encode_list(items, payload.family) == payload.data, payload.decoded


def test_the_end_of_every_object_is_found_while_it_arrives():
    for payload in recorded_payloads():
        size = len(payload.data)
        assert encoded_size(payload.data + b"YA\0\0\0\0RP", payload.family) == size
        beginnings = [0, 3, 4, 7, size // 2, size - 1]
        assert {encoded_size(payload.data[:cut], payload.family) for cut in beginnings if cut < size} == {None}


def test_every_recorded_line_reads_back_to_itself():
    assert len(recorded_lines()) == 218
    assert [line for line in recorded_lines() if to_text(from_text(line)) != line or not is_complete(line)] == []


def test_the_same_bottles_travel_in_text_and_in_binary():
    binary = [payload for payload in recorded_payloads() if payload.recording == "bottles_tcp"]
    assert {to_text(decode_list(payload.data).items) for payload in binary} <= set(recorded_lines())
