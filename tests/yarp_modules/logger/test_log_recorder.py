"""Samples become run folders, even if either side fails."""

import errno
import tracemalloc

import numpy as np
import pytest

from gradiva.middleware import VectorsSample
from gradiva.telemetry import JOURNAL_NAME, RunFolder
from gradiva.yarp_modules.logger.log_recorder import LogRecorder, RunDescription, finish_left_over

NAMES = {"joints_state::positions::measured": ["knee", "hip"], "zmp::measured": ["x", "y"]}


def sample(number, time=None, **others):
    vectors = {"joints_state::positions::measured": [0.1 * number, 0.2], "zmp::measured": [0.0, float(number)]}
    return VectorsSample(vectors | others, 0.01 * number if time is None else time, 0, number)


@pytest.fixture
def recorder(tmp_path):
    return LogRecorder(
        RunDescription(tmp_path, "icub", {"robot": "icub"}, {"sole": {"x": [0.0, 1.0], "y": [0.0, 1.0]}})
    )


def record(recorder, numbers):
    for number in numbers:
        recorder.take(sample(number), NAMES)


def test_a_run_becomes_a_log_with_names_a_result_and_the_configuration(recorder, tmp_path):
    record(recorder, range(1, 51))
    run = recorder.finish("stopped by command")
    mat = run.read_log()
    np.testing.assert_allclose(mat.log["zmp::measured"][:, 1], np.arange(1.0, 51.0))
    np.testing.assert_allclose(mat.log.times, 0.01 * np.arange(1.0, 51.0))
    assert mat.joints == ("knee", "hip")
    assert mat.robot_name == "icub"
    assert mat.log.info("zmp::measured").elements == ("x", "y")
    assert run.read_config() == {"robot": "icub"}
    result = run.read_result()
    assert (result["outcome"], result["reason"], result["samples"]) == ("logged", "stopped by command", 50)
    assert result["sole"]["x"] == [0.0, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == [run.name]
    assert not (run.path / JOURNAL_NAME).exists()


def test_samples_that_were_lost_are_counted(recorder):
    record(recorder, [1, 2, 5, 6, 9])
    assert (recorder.samples, recorder.lost) == (5, 4)


@pytest.mark.parametrize("restarted", [sample(1, time=9.0), sample(51, time=0.0)])
def test_a_restarted_source_begins_a_new_run(recorder, restarted):
    record(recorder, range(1, 51))
    assert recorder.is_restart(restarted)
    first = recorder.run
    recorder.take(restarted, NAMES)
    assert len(first.read_log().log) == 50
    assert first.read_result()["reason"] == "the source was restarted"
    assert recorder.run.path != first.path
    assert (recorder.runs, recorder.lost) == (2, 0)


def test_a_new_signal_begins_a_new_run_once_and_one_that_is_missing_is_no_number(recorder):
    record(recorder, [1, 2])
    recorder.take(sample(3, extra=[7.0]), NAMES)
    record(recorder, [4])
    recorder.take(sample(5, extra=[8.0]), NAMES)
    log = recorder.finish("end").read_log().log
    assert recorder.runs == 2
    np.testing.assert_array_equal(log["extra"][:, 0], [7.0, np.nan, 8.0])
    assert log.info("extra").elements == ("element_0",)


def test_the_journal_of_a_killed_recorder_is_finished_by_the_next_one(recorder, tmp_path):
    record(recorder, range(1, 101))
    recorder.flush()
    rows = (recorder.run.path / JOURNAL_NAME).read_bytes()
    assert finish_left_over(tmp_path) == []  # it is being written
    recorder._journal.close()
    (recorder.run.path / JOURNAL_NAME).write_bytes(rows[:-7])  # killed within a row
    (run,) = finish_left_over(tmp_path)
    assert len(run.read_log().log) == 99
    assert run.read_result()["reason"] == "the logger was killed"
    assert finish_left_over(tmp_path) == []


def test_an_unreadable_journal_stays_and_does_no_harm(tmp_path):
    run = RunFolder.create(tmp_path, "broken", {})
    (run.path / JOURNAL_NAME).write_bytes(b"{}\n")
    assert finish_left_over(tmp_path) == []
    assert (run.path / JOURNAL_NAME).exists()


def test_a_full_disk_leaves_the_journal_and_does_not_keep_the_logger_from_beginning(
    recorder, tmp_path, monkeypatch, caplog
):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    record(recorder, range(5))
    recorder._journal.close()
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_log", fail)
        assert finish_left_over(tmp_path) == []
    assert "No space left on device" in caplog.text
    (run,) = finish_left_over(tmp_path)
    assert len(run.read_log().log) == 5


def peak_memory_of_finishing(parent, samples):
    """Return the most memory that finishing a run of so many samples of 64 numbers took, [bytes]."""
    recorder = LogRecorder(RunDescription(parent, "icub"))
    rows = np.random.default_rng(1).normal(size=(64, 60)).tolist()
    for number in range(1, samples + 1):
        recorder.take(sample(number, forces=rows[number % 64]), NAMES)
    tracemalloc.start()
    run = recorder.finish("end")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    times = run.read_log().log.times
    np.testing.assert_array_equal(times, 0.01 * np.arange(1, samples + 1))
    return peak


def test_a_long_run_takes_no_more_memory_at_its_end_than_a_short_one(tmp_path):
    short, long = (peak_memory_of_finishing(tmp_path, samples) for samples in (3_000, 24_000))
    assert long < 1.2 * short


def test_between_two_runs_there_is_nothing_to_finish(recorder):
    assert recorder.finish("end") is None
    assert dict(map(tuple, recorder.status()))["run"] == ""
