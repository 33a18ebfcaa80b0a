"""Nothing that a peer announces is believed."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list, encoded_size
from pureyarp.wire.elements import Dictionary, Element, Int16, Vocab32
from pureyarp.wire.list_decoder import ListDecoder
from pureyarp.wire.tags import scalar_kinds
from pureyarp.wire.wire_family import WireFamily
from tests.pureyarp.wire.element_strategies import any_items

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
@pytest.mark.parametrize("count", [2**31 - 1, 10**6, 7, -1])
def test_a_count_for_which_there_are_no_bytes_is_refused_at_once(tag, count):
    data = bytes.fromhex(tag) + count.to_bytes(4, "little", signed=True) + b"\1\0\0\0"
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
    empty_lists: list[Element] = [[] for _ in range(20_000)]
    dictionaries: list[Element] = [Dictionary({f"{index:x}": []}) for index in range(8_000)]
    kinds = [b"\x20\1\0\0", b"\x40\1\0\0", b"\1\1\0\0", b"\x0a\1\0\0", b"\4\1\0\0", b"\x0c\1\0\0", b"\x80\1\0\0"]
    counts = (160_000 // {0x20: 1, 0x40: 2, 0x0A: 8}.get(kind[0], 4) for kind in kinds)
    lists = [kind + count.to_bytes(4, "little") + bytes(160_000) for kind, count in zip(kinds, counts, strict=True)]
    one = Dictionary({f"{index:x}": [] for index in range(10_000)})
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
