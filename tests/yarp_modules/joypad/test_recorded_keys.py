import pytest

from gradiva.common import ConfigError
from gradiva.yarp_modules.joypad import RecordedKeys

TEXT = "# prepare\n0.5 p\n\n2 g  # start\n2 up\n3.5 q\n"


def test_each_key_is_due_once_at_its_time():
    keys = RecordedKeys(TEXT)
    assert [keys.due(time) for time in (0.0, 0.5, 1.0, 2.0, 9.0, 10.0)] == [[], ["p"], [], ["g", "up"], ["q"], []]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0.5", "keys, line 1: expected 'time key', got '0.5'"),
        ("p 0.5", "line 1: expected 'time key'"),
        ("1 fly", r"line 1: 'fly' is no key \(valid: up"),
        ("1 up up", "'up up' is no key"),
        ("2 up\n1 p", "line 2: 1.0 s comes after 2.0 s"),
        ("nan up", "line 1: nan is no time"),
    ],
)
def test_a_wrong_line_is_named(text, complaint):
    with pytest.raises(ConfigError, match=complaint):
        RecordedKeys(text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"--input .*keys\.txt"):
        RecordedKeys.read(tmp_path / "keys.txt")
