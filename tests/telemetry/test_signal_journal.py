import numpy as np
import pytest

from gradiva.telemetry import LogError
from gradiva.telemetry.signal_log import JournalReader, SignalJournal

SIGNALS = {"com": ("x", "y", "z"), "is_left": ("flag",)}


def written(path):
    journal = SignalJournal(path, SIGNALS, {"robot": "icub"})
    journal.append(0.5, {"com": [1.0, 2.0, 3.0], "is_left": [1.0]})
    journal.append(0.6, {"com": [4.0, 5.0, 6.0]})
    return journal


def test_what_was_written_is_read_to_the_last_digit(tmp_path):
    journal = written(tmp_path / "journal")
    journal.append(1.0 / 3.0, {"com": [0.1, 0.2, 0.3], "is_left": [0.0]})
    journal.close()
    assert journal.rows == 3
    with JournalReader(tmp_path / "journal") as log:
        assert log.metadata == {"robot": "icub"}
        (rows,) = log.blocks()
        np.testing.assert_array_equal(rows[:, 0], [0.5, 0.6, 1.0 / 3.0])
        np.testing.assert_array_equal(rows[2, log.columns["com"]], [0.1, 0.2, 0.3])
        np.testing.assert_array_equal(rows[:, log.columns["is_left"]][:, 0], [1.0, np.nan, 0.0])
        assert log.info("com").elements == ("x", "y", "z")
        assert log.duration == 1.0 / 3.0 - 0.5


def test_a_row_that_was_not_ended_is_left_out(tmp_path):
    written(tmp_path / "journal").close()
    whole = (tmp_path / "journal").read_bytes()
    (tmp_path / "journal").write_bytes(whole[:-1])
    with JournalReader(tmp_path / "journal") as log:
        assert len(log) == 1


def test_one_that_is_being_written_is_not_read(tmp_path):
    journal = written(tmp_path / "journal")
    with pytest.raises(LogError, match="is being written"):
        JournalReader(tmp_path / "journal")
    journal.close()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"[1]\n", b'{"signals": {"a": 3}, "metadata": {}}\n', b"\xff\n"])
def test_what_is_no_journal_is_refused(tmp_path, content):
    (tmp_path / "journal").write_bytes(content)
    with pytest.raises(LogError, match="is no journal"):
        JournalReader(tmp_path / "journal")


def test_a_file_that_exists_is_never_written_over(tmp_path):
    (tmp_path / "journal").write_text("precious")
    with pytest.raises(LogError, match="cannot write"):
        SignalJournal(tmp_path / "journal", SIGNALS, {})
    assert (tmp_path / "journal").read_text() == "precious"
