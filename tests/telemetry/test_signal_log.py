"""Signals in memory and row by row on disk."""

import numpy as np
import pytest

from gradiva.telemetry import JournalReader, LogError, SignalJournal, SignalLog

SIGNALS = {"com": ("x", "y", "z"), "is_left": ("flag",)}


def filled(ticks):
    log = SignalLog()
    for tick in range(ticks):
        log.append(0.01 * tick, {"com::position": np.array([tick, 2.0, 3.0]), "is_left": tick % 2 == 0})
    return log


@pytest.mark.parametrize("ticks", [1, 1023, 1024, 1025, 3000])
def test_what_was_appended_is_read_back(ticks):
    log = filled(ticks)
    assert len(log) == ticks
    np.testing.assert_array_equal(log.times, 0.01 * np.arange(ticks))
    np.testing.assert_array_equal(log["com::position"][:, 0], np.arange(ticks))
    np.testing.assert_array_equal(log["is_left"][:, 0], np.arange(ticks) % 2 == 0)


def test_reading_does_not_end_the_writing():
    log = filled(3)
    early = log["com::position"]
    log.append(0.03, {"com::position": [7.0, 7.0, 7.0], "is_left": 0.0})
    assert early.shape == (3, 3)
    np.testing.assert_array_equal(log["com::position"][-1], [7.0, 7.0, 7.0])
    np.testing.assert_array_equal(log["com::position"][:3], early)


def test_an_empty_log_has_no_signals_and_no_times():
    log = SignalLog()
    assert len(log) == 0
    assert log.names == ()
    assert log.times.shape == (0,)


def test_what_is_read_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        filled(2)["com::position"][0, 0] = 1.0


def test_the_order_of_the_signals_may_change():
    log = filled(1)
    log.append(0.01, {"is_left": 0.0, "com::position": np.array([1.0, 2.0, 3.0])})
    np.testing.assert_array_equal(log["com::position"][1], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("signals", "message"),
    [
        ({"com::position": np.zeros(3)}, "'is_left' is missing"),
        ({"com::position": np.zeros(2), "is_left": 1.0}, r"'com::position' has shape \(2,\).* 3 numbers"),
        ({"com::position": 1.0, "is_left": 1.0}, r"'com::position' has shape \(\)"),
        ({"com::position": np.zeros(3), "is_left": np.zeros(2)}, "'is_left' has shape"),
        ({"com::position": np.zeros((3, 1)), "is_left": 1.0}, r"'com::position' has shape \(3, 1\)"),
        ({"com::position": np.zeros(3), "is_left": 1.0, "is_lift": 1.0}, "'is_lift'.*did you mean 'is_left'"),
        ({"com::position": "abc", "is_left": 1.0}, "'com::position'"),
    ],
)
def test_a_tick_with_other_signals_is_refused_by_name(signals, message):
    log = filled(2)
    with pytest.raises(LogError, match=message):
        log.append(0.02, signals)
    assert len(log) == 2


def test_a_matrix_is_no_signal():
    with pytest.raises(LogError, match=r"'a' has shape \(2, 2\)"):
        SignalLog().append(0.0, {"a": np.zeros((2, 2))})


def test_a_signal_cannot_lie_below_another():
    with pytest.raises(LogError, match="'zmp' is a signal, so that 'zmp::measured'"):
        SignalLog().append(0.0, {"zmp": 1.0, "zmp::measured": 1.0})


def test_an_unknown_signal_is_named_with_the_nearest():
    with pytest.raises(LogError, match="no signal 'com::positon'; did you mean 'com::position'"):
        filled(1)["com::positon"]


def test_columns_are_named_or_numbered():
    log = filled(1)
    log.describe("com::position", ("x", "y", "z"), "m")
    assert log.info("com::position").elements == ("x", "y", "z")
    assert log.info("com::position").unit == "m"
    assert log.info("is_left").elements == ("element_0",)


def test_a_log_can_be_made_of_whole_signals_and_continued():
    log = SignalLog.from_arrays([0.0, 0.1], {"a": np.array([1.0, 2.0]), "b": np.eye(2)})
    log.append(0.2, {"a": 3.0, "b": [5.0, 6.0]})
    np.testing.assert_array_equal(log["a"][:, 0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(log["b"][2], [5.0, 6.0])
    with pytest.raises(LogError, match="'a' has 3 samples for 2 times"):
        SignalLog.from_arrays([0.0, 0.1], {"a": np.zeros(3)})


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


def test_a_log_that_forgets_keeps_what_is_newer_in_whole_blocks():
    log = SignalLog()
    for row in range(3000):
        log.append(0.1 * row, {"a": float(row)})
    log.forget(before=150.0)
    assert log.times[0] == pytest.approx(102.4)
    assert log["a"][-1, 0] == 2999.0
    assert len(log) == 3000 - 1024


def test_the_newest_tick_and_the_titles_of_its_columns_cost_no_copy_of_the_log():
    log = SignalLog()
    assert (log.newest.size, log.titles) == (0, ())
    log.describe("zmp", ("x", "y"), "m")
    for time in range(1030):  # into a second block
        log.append(float(time), {"zmp": (time, -time), "pair": (1.0, 2.0), "load": 3.0})
        assert log.newest.tolist() == [time, time, -time, 1.0, 2.0, 3.0]
    assert log.titles == ("zmp::x", "zmp::y", "pair::element_0", "pair::element_1", "load")
    assert log.titles is log.titles
    assert log.times[-1] == log.newest[0] == 1029.0, "also when its blocks have been joined"
