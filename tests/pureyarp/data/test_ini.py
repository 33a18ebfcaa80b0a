"""Ini files and command lines."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pureyarp.data import parse_command_line, parse_ini, read_ini
from pureyarp.wire import from_text, to_text


def parsed(text, environment=None, **rest) -> str:
    return to_text(parse_ini(text, environment or {}, **rest))


def test_the_recorded_example_of_the_real_reader():
    text = """
key1 value one
key2 (1 2 3)
key3 "a b"   // c
key4 5 # c
[GROUP]
g3 = 1 2 3
[OTHER sub1]
s 1
"""
    assert " ".join(sorted(to_text([entry]) for entry in parse_ini(text, {}))) == (
        '(GROUP (g3 1 2 3)) (OTHER sub1) (key1 value one) (key2 (1 2 3)) (key3 "a b") (key4 5) (sub1 (s 1))'
    )


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("key", "(key)"),
        ("key = 1 2", "(key 1 2)"),
        ("  key 1", "(key 1)"),
        ("url http://foo/bar", '(url "http:")'),
        ('url "http://foo/bar"', '(url "http://foo/bar")'),
        ("key 5#6", '(key "5#6")'),
        ("# all of it", ""),
        ("key 5 # rest // of it", "(key 5)"),
        ('key "a # b // c"', '(key "a # b // c")'),
        (r'key "say \"# no comment\" here"', r'(key "say \"# no comment\" here")'),
        ("flag true", "(flag true)"),
        ("key 1\nkey 2", "(key 2)"),
        ("key 1\r\nother 2\r\n", "(key 1) (other 2)"),
    ],
)
def test_lines_comments_and_values(line, entry):
    assert parsed(line) == entry


def test_an_open_parenthesis_or_quote_continues_on_the_next_line():
    assert parsed("limits (1 2 // first\n  3 4)\nnext 1") == "(limits (1 2 3 4)) (next 1)"
    assert parsed('text "a\n b"\nnext 1') == '(text "a b") (next 1)'
    assert parsed("limits (1\n2)\nnext 1") == "(limits (12)) (next 1)"  # as YARP reads it: nothing between the lines
    assert parsed("words one \\\n two\nnext 1") == "(words one two) (next 1)"


def test_a_comment_opens_nothing():
    assert parsed("# don't (open this\nkey 1 // nor \"that\nnext 2") == "(key 1) (next 2)"


def test_a_parenthesis_that_is_never_closed_is_logged_with_its_line(caplog):
    assert parsed("key 1\n\nlist (1 2\nother 3").startswith("(key 1)")
    assert "line 3 is never closed" in caplog.text


def test_a_group_goes_on_under_the_same_header_and_ends_with_an_empty_one():
    text = "[A]\nx 1\n[B]\ny 2\n[A]\nz 3\nx 4\n[]\ntop 5"
    assert parsed(text) == "(A (x 4) (z 3)) (B (y 2)) (top 5)"


def test_a_list_header_collects_the_names_of_its_groups():
    assert parsed("[PART left]\nx 1\n[PART right]\nx 2") == "(PART left right) (left (x 1)) (right (x 2))"


@pytest.mark.parametrize("reference", ["$HERE", "${HERE}", "$(HERE)"])
def test_variables_are_replaced_by_the_environment_first(reference):
    assert parsed(f"HERE file\nkey {reference}/x", {"HERE": "/tmp"}) == '(HERE file) (key "/tmp/x")'


def test_variables_are_replaced_by_top_level_keys_else_by_nothing():
    assert parsed("root /data\n[A]\ninner 7\npath ${root}/a\nother x$inner") == (
        '(root "/data") (A (inner 7) (path "/data/a") (other x))'
    )


def test_a_backslash_protects_a_dollar_sign():
    assert parsed(r"key \$HERE", {"HERE": "/tmp"}) == '(key "$HERE")'


def test_a_variable_of_several_words_becomes_several_values():
    assert parsed("key $WORDS", {"WORDS": "1 2"}) == "(key 1 2)"


def test_an_included_file_comes_at_the_top_level_and_ends_the_group(tmp_path):
    (tmp_path / "more.ini").write_text("b 2\n[G]\nc 3\n")
    text = '[A]\nx 1\n[include "more.ini"]\nafter 4'
    assert parsed(text, folder=tmp_path) == "(A (x 1)) (b 2) (G (c 3)) (after 4)"


def test_a_file_can_be_the_contents_of_a_group_and_be_listed(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "arm.ini").write_text('[include "joints.ini"]\nroot $where\n')
    (tmp_path / "sub" / "joints.ini").write_text("joints (0 1)\n")
    text = 'where here\n[include PARTS arm "sub/arm.ini"]\n[include LEG "sub/joints.ini"]'
    assert parsed(text, folder=tmp_path) == (
        "(where here) (PARTS arm) (arm (joints (0 1)) (root here)) (LEG (joints (0 1)))"
    )


def test_what_cannot_be_included_is_logged_and_left_out(tmp_path, caplog):
    assert parsed('a 1\n[include "none.ini"]\nb 2', folder=tmp_path) == "(a 1) (b 2)"
    assert str(tmp_path / "none.ini") in caplog.text


def test_a_file_that_includes_itself_ends(tmp_path, caplog):
    (tmp_path / "self.ini").write_text('a 1\n[include "self.ini"]\n')
    assert to_text(read_ini(tmp_path / "self.ini", {}) or []) == "(a 1)"
    assert "include itself" in caplog.text


def test_a_file_of_another_context_is_imported(tmp_path):
    folder = tmp_path / "contexts" / "camera"
    folder.mkdir(parents=True)
    (folder / "lens.ini").write_text("focus 3\n")
    assert parsed("[import camera lens.ini]\n", {"YARP_DATA_HOME": str(tmp_path)}) == "(focus 3)"
    assert parsed("[import camera lens.ini]\n", find_in_context=lambda context, name: folder / name) == "(focus 3)"


def test_a_directory_is_all_its_ini_files_by_name(tmp_path):
    (tmp_path / "b.ini").write_text("key 2\n")
    (tmp_path / "a.ini").write_text("key 1\nother 1\n")
    (tmp_path / "c.txt").write_text("key 3\n")
    assert to_text(read_ini(tmp_path, {}) or []) == "(key 2) (other 1)"


def test_a_file_that_is_not_there_is_none(tmp_path):
    assert read_ini(tmp_path / "none.ini", {}) is None
    assert read_ini(tmp_path, {}) is None


ANYTHING = st.text() | st.lists(
    st.sampled_from(
        [
            "key",
            " ",
            "\n",
            "[",
            "]",
            "(",
            ")",
            '"',
            "\\",
            "//",
            "#",
            "$",
            "${",
            "}",
            "=",
            "include",
            "import",
            "5",
            "\0",
        ]
    )
).map("".join)


@settings(deadline=None)
@given(ANYTHING)
def test_no_text_is_an_error(text):
    for entry in parse_ini(text, {"key": "${key}"}, Path("/nonexistent")):
        assert isinstance(entry, list)
        assert entry


def test_very_deep_nesting_does_not_fail(caplog):
    assert parsed("deep " + "(" * 100 + ")" * 100 + "\nnext 1").endswith("(next 1)")


def test_a_long_text_is_read_in_one_pass():
    text = 'list "' + "line\n" * 100_000
    assert len(parse_ini(text, {})) <= 1


def test_a_name_that_no_file_can_have_is_logged(caplog):
    assert parsed('[include "a\0b"]\nnext 1') == "(next 1)"
    assert "cannot read" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "entries"),
    [
        (["--name", "/me", "--from", "file.ini"], '(name "/me") (from file.ini)'),
        (["--verbose"], "(verbose)"),
        (["--goal", "1", "-2.5", "--other", "3"], "(goal 1 -2.5) (other 3)"),
        (["--list", "(1 2 3)"], "(list (1 2 3))"),
        (["--text", "two words"], '(text "two words")'),
        (["--empty", ""], '(empty "")'),
        (["--flag", "true"], "(flag true)"),
        (["ignored", "--key", "1"], "(key 1)"),
        (["--key", "1", "--key", "2"], "(key 2)"),
        (["--group::key", "5", "--group::other", "6"], "(group (key 5) (other 6))"),
        (["--a::b::c", "1"], "(a (b (c 1)))"),
        ([], ""),
    ],
)
def test_options_become_entries(arguments, entries):
    assert to_text(parse_command_line(arguments)) == entries


def test_the_command_line_replaces_single_keys_of_a_file_and_leaves_the_file_as_it_was():
    of_the_file = from_text("(name walking) (group (key 1) (other 2)) (last 3)")
    overlaid = parse_command_line(["--group::key", "9", "--name", "mine"], of_the_file)
    assert to_text(overlaid) == "(name mine) (group (key 9) (other 2)) (last 3)"
    assert to_text(of_the_file) == "(name walking) (group (key 1) (other 2)) (last 3)"


def test_an_argument_that_cannot_be_read_is_a_string():
    deep = "(" * 100 + ")" * 100
    assert parse_command_line(["--deep", deep, "--open", "(1 2"]) == [["deep", deep], ["open", "(1 2"]]
