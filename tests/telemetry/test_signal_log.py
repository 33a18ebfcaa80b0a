import numpy as np
import pytest

from gradiva.telemetry import LogError, SignalLog


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
