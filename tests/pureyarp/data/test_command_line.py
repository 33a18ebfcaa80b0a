import pytest

from pureyarp.data.command_line import parse_command_line
from pureyarp.wire.text import from_text, to_text


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
