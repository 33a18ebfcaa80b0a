"""Texts that arrive line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.wire.text_scan import TextProgress, scan


@given(st.lists(st.text(alphabet='a1 "(){}\\,[]', max_size=8), min_size=1, max_size=6))
def test_a_text_is_complete_by_lines_when_it_is_as_a_whole(lines):
    progress, text = TextProgress(), ""
    for index, line in enumerate(lines):
        is_complete = progress.add(line)
        text = f"{text}\n{line}" if index else line
        assert is_complete == scan(text).is_complete
        if progress.ends_in_backslash:
            text = text[:-1]


@pytest.mark.parametrize(
    ("line", "is_complete", "goes_on"),
    [
        ("1 2", True, False),
        ("(1", False, False),
        ("1 \\", False, True),
        ('"a\\\\', False, False),
        ("a\\\\", True, False),
    ],
)
def test_only_a_backslash_of_its_own_asks_for_another_line(line, is_complete, goes_on):
    progress = TextProgress()
    assert (progress.add(line), progress.ends_in_backslash) == (is_complete, goes_on)
