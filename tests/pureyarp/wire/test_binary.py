"""Nothing that a peer announces is believed before it has arrived."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import (
    ListDecoder,
    decode_list,
    encode_element,
    encode_list,
    encoded_size,
)
from pureyarp.wire.elements import (
    Dictionary,
    Element,
    Float32,
    Int8,
    Int16,
    Int64,
    PlainList,
    TypedList,
    Vocab32,
    Vocab64,
    WireFamily,
    scalar_kinds,
)
from tests.pureyarp.wire.element_strategies import any_items, any_scalars, same, typed_lists, vocab64s

FAMILIES = pytest.mark.parametrize("family", list(WireFamily))
EMPTY = bytes.fromhex("0001000000000000")


@FAMILIES
@given(items=any_items)
def test_any_list_survives_the_way_to_bytes_and_back(family, items):
    data = encode_list(items, family)
    decoded = decode_list(data, family)
    assert same(decoded.items, items)
    assert (decoded.size, decoded.family) == (len(data), family)


@FAMILIES
@given(items=any_items)
def test_the_measured_size_is_that_of_the_list_and_is_unknown_before_it_ends(family, items):
    data = encode_list(items, family)
    assert encoded_size(data + b"more", family) == len(data)
    assert encoded_size(data[:-1], family) is None


@given(items=any_items)
def test_a_list_without_specialisation_means_the_same(items):
    assert same(decode_list(encode_list(PlainList(items))).items, items)


@FAMILIES
@given(items=typed_lists)
def test_a_list_of_a_given_type_means_the_same(family, items):
    assert same(decode_list(encode_list(items, family), family).items, list(items))


@FAMILIES
@given(element=any_scalars)
def test_a_single_element_is_written_behind_its_tag(family, element):
    assert encode_element(element, family) == encode_list(PlainList([element]), family)[8:]


@given(value=vocab64s)
def test_long_vocabs_exist_in_the_4_family_alone(value):
    data = encode_list([value, 1], WireFamily.YARP_4)
    assert same(decode_list(data, WireFamily.YARP_3).items, [value, 1])
    with pytest.raises(MalformedMessage, match="Vocab64"):
        encode_list([value, 1], WireFamily.YARP_3)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], "00010000 00000000"),
        ([1, -1], "01010000 02000000 01000000 ffffffff"),
        ([Int8(1), Int8(-1)], "20010000 02000000 01ff"),
        ([Int16(1)], "40010000 01000000 0100"),
        ([Int64(1)], "11010000 01000000 0100000000000000"),
        ([Vocab32(0x746573)], "09010000 01000000 73657400"),
        ([0.5], "0a010000 01000000 000000000000e03f"),
        ([Float32(0.5)], "80010000 01000000 0000003f"),
        (["a", "bc"], "04010000 02000000 01000000 61 02000000 6263"),
        ([b"\1\2", b""], "0c010000 02000000 02000000 0102 00000000"),
        ([1, "x"], "00010000 02000000 01000000 01000000 04000000 01000000 78"),
        ([[1], []], "00010000 02000000 01010000 01000000 01000000 00010000 00000000"),
        (PlainList([1]), "00010000 01000000 01000000 01000000"),
        (TypedList(float), "0a010000 00000000"),
        (
            [Dictionary(name=["val"], key=[5])],
            "00010000 01000000 00030000 00010000 02000000"
            "00010000 02000000 04000000 03000000 6b6579 01000000 05000000"
            "04010000 02000000 04000000 6e616d65 03000000 76616c",
        ),
    ],
)
def test_lists_of_one_scalar_type_share_its_tag(items, expected):
    assert encode_list(items).hex() == expected.replace(" ", "")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([0.5], "14010000 01000000 000000000000e03f"),
        ([Float32(0.5)], "0a010000 01000000 0000003f"),
        ([0.5, 1], "00010000 02000000 14000000 000000000000e03f 01000000 01000000"),
    ],
)
def test_the_4_family_has_other_tags_for_floating_point(items, expected):
    assert encode_list(items, WireFamily.YARP_4).hex() == expected.replace(" ", "")


@FAMILIES
def test_a_list_of_float64_shows_its_family_by_its_length_even_if_the_tag_is_ambiguous(family):
    for sender in WireFamily:
        decoded = decode_list(encode_list([1.5, 2.5], sender), family)
        assert (decoded.items, decoded.family) == ([1.5, 2.5], sender)


@FAMILIES
def test_floating_point_tags_that_one_family_does_not_know_show_the_other(family):
    new, old = encode_list([1, 0.5], WireFamily.YARP_4), encode_list([1, Float32(0.5)], WireFamily.YARP_3)
    assert decode_list(new, family).family is WireFamily.YARP_4
    assert decode_list(old, family).family is WireFamily.YARP_3
    assert encoded_size(new, family) == len(new)
    assert encoded_size(old, family) == len(old)


@FAMILIES
def test_a_list_that_reads_in_both_families_belongs_to_the_expected_one(family):
    assert decode_list(encode_list([1, "x"]), family).family is family


def test_what_follows_a_list_is_left_alone():
    decoded = decode_list(encode_list([1, "x"]) + b"rest")
    assert (decoded.items, decoded.size) == ([1, "x"], 25)


def test_unknown_upper_bits_of_the_first_tag_mean_nothing():
    assert decode_list(bytes.fromhex("01050070 01000000 07000000")).items == [7]


def test_an_acknowledgement_is_no_list():
    with pytest.raises(MalformedMessage):
        decode_list(b"YA\0\0\0\0RP")
    with pytest.raises(MalformedMessage):
        encoded_size(b"YA\0\0\0\0RP")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_read(kind):
    assert decode_list(kind(encode_list(["a", b"b", 0.5]))).items == ["a", b"b", 0.5]


def test_numbers_of_numpy_are_written_as_floats():
    assert encode_list([np.float64(0.5), 1.5]) == encode_list(PlainList([0.5, 1.5]))
    assert decode_list(encode_list(list(np.arange(3.0)))).items == [0.0, 1.0, 2.0]


def test_what_is_too_large_for_float32_becomes_infinite():
    assert decode_list(encode_list([Float32(1e300), Float32(-1e300)])).items == [float("inf"), float("-inf")]


@pytest.mark.parametrize(
    "items", [[2**31], [Int8(128), "x"], [Int64(2**63)], ["\ud800"], [object()], [None], [{"a": 1}], [1j]]
)
def test_an_element_that_the_wire_cannot_carry_is_refused(items):
    with pytest.raises(MalformedMessage, match="carry"):
        encode_list(items)


def nested_lists(depth: int) -> list:
    items: list = []
    for _ in range(depth):
        items = [items]
    return items


def test_lists_nest_to_a_depth_of_32_and_no_deeper():
    data = encode_list(nested_lists(32))
    assert decode_list(data).items == nested_lists(32)
    assert encoded_size(data) == len(data)
    with pytest.raises(MalformedMessage, match="deeper than 32"):
        encode_list(nested_lists(33))
    deeper = struct.pack("<ii", 256, 1) * 33 + EMPTY
    with pytest.raises(MalformedMessage, match="deeper than 32"):
        decode_list(deeper)
    with pytest.raises(MalformedMessage, match="deeper than 32"):
        encoded_size(deeper)


@given(st.integers(0, 2**32 - 1))
def test_a_first_tag_without_the_bit_of_lists_is_refused(tag):
    data = (tag & ~0x100).to_bytes(4, "little") + b"\0\0\0\0"
    with pytest.raises(MalformedMessage, match="list should begin"):
        decode_list(data)
    with pytest.raises(MalformedMessage, match="list should begin"):
        encoded_size(data)


def test_vocab64_is_not_taken_for_a_shorter_one():
    assert encode_list([Vocab64(1)], WireFamily.YARP_4).hex() == "120100000100000001" + "00" * 7


TAGS = [0, 256, 512, 768, *(kind.tag for kind in scalar_kinds(WireFamily.YARP_4)), 128]
words = st.one_of(
    st.sampled_from([tag + group for tag in TAGS for group in (0, 256, 512)]).map(
        lambda tag: tag.to_bytes(4, "little")
    ),
    st.integers(-2, 8).map(lambda count: count.to_bytes(4, "little", signed=True)),
    st.binary(min_size=1, max_size=4),
)
plausible_garbage = st.lists(words, max_size=20).map(b"".join)
LARGEST_GROWTH = 32  # bytes of objects for one byte of a message


@given(data=st.one_of(st.binary(max_size=200), plausible_garbage), family=st.sampled_from(list(WireFamily)))
def test_garbage_is_read_or_refused_by_name(data, family):
    try:
        decoded = decode_list(data, family)
    except MalformedMessage:
        return
    assert 8 <= decoded.size <= len(data)


@given(data=st.one_of(st.binary(max_size=200), plausible_garbage), family=st.sampled_from(list(WireFamily)))
def test_the_end_of_garbage_is_found_unknown_or_refused_by_name(data, family):
    try:
        size = encoded_size(data, family)
    except MalformedMessage:
        return
    assert size is None or 8 <= size <= len(data)


@given(items=any_items, cut=st.integers(1, 30))
def test_a_message_that_breaks_off_is_refused(items, cut):
    data = encode_list(items)
    with pytest.raises(MalformedMessage):
        ListDecoder(data[: max(len(data) - cut, 0)], WireFamily.YARP_3).read()


@given(items=any_items, place=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_message_with_a_wrong_byte_is_read_or_refused_by_name(items, place, byte):
    data = bytearray(encode_list(items))
    data[place % len(data)] = byte
    try:
        decode_list(data)
    except MalformedMessage:
        return


@pytest.mark.parametrize("tag", ["00010000", "0a010000", "04010000", "20010000", "0c010000", "09010000"])
@pytest.mark.parametrize("count", [2**31 - 1, 10**6, 9, -1])
@pytest.mark.parametrize("left", [4, 8])  # 8 is a whole number of float64, the commonest of lists
def test_a_count_for_which_there_are_no_bytes_is_refused_at_once(tag, count, left):
    data = bytes.fromhex(tag) + count.to_bytes(4, "little", signed=True) + bytes([1]) + bytes(left - 1)
    with pytest.raises(MalformedMessage, match="bytes are left"):
        decode_list(data)


@pytest.mark.parametrize("length", [2**31 - 1, 5, -1])
@pytest.mark.parametrize("tag", ["04000000", "0c000000"])
def test_a_length_for_which_there_are_no_bytes_is_refused_at_once(tag, length):
    element = bytes.fromhex(tag) + length.to_bytes(4, "little", signed=True) + b"abcd"
    with pytest.raises(MalformedMessage, match="bytes are left"):
        decode_list(bytes.fromhex("0001000001000000") + element)


def greedy_messages() -> list[bytes]:
    """Return messages of many small elements, each the worst of its kind."""
    empty_lists: list[Element] = [[] for _ in range(5_000)]
    dictionaries: list[Element] = [Dictionary({f"{index:x}": []}) for index in range(2_000)]
    kinds = [b"\x20\1\0\0", b"\x40\1\0\0", b"\1\1\0\0", b"\x0a\1\0\0", b"\4\1\0\0", b"\x0c\1\0\0", b"\x80\1\0\0"]
    counts = (40_000 // {0x20: 1, 0x40: 2, 0x0A: 8}.get(kind[0], 4) for kind in kinds)
    lists = [kind + count.to_bytes(4, "little") + bytes(40_000) for kind, count in zip(kinds, counts, strict=True)]
    one = Dictionary({f"{index:x}": [] for index in range(2_500)})
    return [*lists, encode_list(empty_lists), encode_list(dictionaries), encode_list([one])]


@pytest.mark.parametrize("data", greedy_messages(), ids=lambda data: data[:4].hex())
def test_a_message_never_becomes_much_larger_than_it_was(data):
    tracemalloc.start()
    try:
        decode_list(data)
        assert tracemalloc.get_traced_memory()[1] < LARGEST_GROWTH * len(data)
    finally:
        tracemalloc.stop()


def test_entries_of_a_dictionary_are_named_by_what_they_print():
    entries: list[Element] = [[Vocab32(0x736F70), 1], [5, "five"], "stray", [], ["key"]]
    data = encode_list([entries]).replace(b"\0\1\0\0\1\0\0\0", b"\0\1\0\0\1\0\0\0\0\3\0\0", 1)
    assert decode_list(data).items == [Dictionary({"pos": [1], "5": ["five"], "": [], "key": []})]


def test_short_integers_of_a_list_keep_their_type():
    numbers = decode_list(encode_list([Int16(-300), Int16(7)])).items
    assert [(type(number), number) for number in numbers] == [(Int16, -300), (Int16, 7)]
