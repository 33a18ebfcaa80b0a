"""Arbitrary elements, for property tests."""

from hypothesis import strategies as st

from pureyarp.wire import Dictionary, Float32, Int8, Int16, Int64, TypedList, Vocab32, Vocab64


def integers_of(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


any_bytes = st.binary(max_size=12)
any_strings = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    any_bytes.map(lambda data: data.decode("utf-8", "surrogateescape")),
)
floats = st.floats()  # with infinities and NaN
printable_vocabs = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=2, max_size=4).map(
    lambda text: Vocab32(int.from_bytes(text.encode().ljust(4, b"\0"), "little"))
)

SCALARS = {
    int: integers_of(32),
    Int8: integers_of(8).map(Int8),
    Int16: integers_of(16).map(Int16),
    Int64: integers_of(64).map(Int64),
    Vocab32: integers_of(32).map(Vocab32),
    float: floats,
    Float32: st.floats(width=32).map(Float32),
    str: any_strings,
    bytes: any_bytes,
}
any_scalars = st.one_of(*SCALARS.values())
homogeneous_lists = st.one_of(*(st.lists(values, max_size=5) for values in SCALARS.values()))
typed_lists = st.one_of(
    *(st.lists(values, max_size=3).map(lambda v, kind=kind: TypedList(kind, v)) for kind, values in SCALARS.items())
)


def nested(elements: st.SearchStrategy) -> st.SearchStrategy:
    lists = st.lists(elements, max_size=4)
    return st.one_of(lists, st.dictionaries(any_strings, lists, max_size=3).map(Dictionary))


any_items = st.one_of(
    homogeneous_lists,
    st.lists(st.recursive(st.one_of(any_scalars, homogeneous_lists), nested, max_leaves=12), max_size=6),
)
vocab64s = integers_of(64).map(Vocab64)

# What text can carry: no sizes, no dictionaries, no strings that read as something else, vocabs of letters
_WORDS_THAT_MEAN_ANOTHER = {"null", "inf", "nan"}
_texts = any_strings.filter(lambda text: text not in _WORDS_THAT_MEAN_ANOTHER)
_wide = st.one_of(st.integers(2**31, 2**63 - 1), st.integers(-(2**63), -(2**31) - 1)).map(Int64)
_textual = st.one_of(
    integers_of(32), _wide, floats, _texts, any_bytes, printable_vocabs, st.sampled_from([Vocab32(0), Vocab32(49)])
)
textual_items = st.lists(st.recursive(_textual, lambda inner: st.lists(inner, max_size=4), max_leaves=12), max_size=6)


def same(one: object, other: object) -> bool:
    """Return whether two elements have the same types and values ; NaN equals NaN, 0.0 does not equal -0.0."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Dictionary) and isinstance(other, Dictionary):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and repr(one) == repr(other)
