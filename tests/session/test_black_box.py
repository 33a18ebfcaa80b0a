"""The black box: a ring of the newest rows, in memory that stays as large as it is, and when it is written."""

import os
import threading
import time as machine_time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, Measurement, StateError
from gradiva.safety import Finding, Response, SafetyEvent, SafetyKind
from gradiva.session import BlackBox, SignalRing, black_box, sensor_signals
from gradiva.walking import WalkingLog, WalkingState
from tests.conftest import long
from tests.waiting import wait_until

JOINTS = 23
MEASURED = Measurement(0.0, *(np.zeros(JOINTS) for _ in range(3)), np.zeros((4, 6)))


def log_at(time, state=WalkingState.WALKING):
    return WalkingLog(time, state, "walking", JointCommand(ControlMode.POSITION, np.zeros(JOINTS)))


def test_a_ring_keeps_the_newest_rows_and_takes_signals_that_come_later():
    ring = SignalRing(rows=4, width=4)
    assert [ring.append(0.1 * k, {"a": k}, {"b": (k, -k)}) for k in range(3)] == [True, False, False]
    assert ring.append(0.3, {"a": 3.0, "late": 7.0})
    assert ring.append(0.4, {"late": 8.0, "too_much": 9.0}) is False
    times, rows = ring.snapshot()
    np.testing.assert_allclose(times, [0.2, 0.3, 0.4])  # the oldest of a full ring may be being replaced
    np.testing.assert_array_equal(rows[:, ring.columns["a"]].ravel(), [2.0, 3.0, np.nan])
    np.testing.assert_array_equal(rows[:, ring.columns["b"]], [[2.0, -2.0], [np.nan, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(rows[:, ring.columns["late"]].ravel(), [np.nan, 7.0, 8.0])
    assert ring.refused == {"too_much"}
    assert (len(ring), len(SignalRing(4, 4, ring.handle))) == (4, 4)  # another map of the same memory


def test_a_snapshot_holds_whole_rows_in_order_while_the_writer_goes_on():
    ring, is_done = SignalRing(rows=64, width=200), threading.Event()
    reader = SignalRing(64, 200, ring.handle)

    def write():
        row = np.empty(200)
        for count in range(20_000):
            row.fill(count)
            ring.append(float(count), {"row": row})
        is_done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = 0
    while not is_done.is_set():
        times, rows = reader.snapshot()
        np.testing.assert_array_equal(np.diff(times), 1.0)
        np.testing.assert_array_equal(rows, np.broadcast_to(times[:, None], rows.shape))
        seen += len(times) > 0
    writer.join()
    assert seen > 0


def resident_memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("hours", [0.005, long(1.0)])
def test_memory_stays_as_large_as_it_is_over_an_hour_at_1_khz(hours):
    ring, ticks = SignalRing(rows=3000 if hours < 1.0 else 60_000, width=16 * JOINTS + 320), round(hours * 3.6e6)
    more = {f"signal{k}": np.zeros(5) for k in range(40)}
    for tick in range(ring.rows):  # all pages are there
        ring.append(1e-3 * tick, sensor_signals(log_at(1e-3 * tick), MEASURED), more)
    before = resident_memory()
    for tick in range(ring.rows, ticks):
        ring.append(1e-3 * tick, sensor_signals(log_at(1e-3 * tick), MEASURED), more)
    assert abs(resident_memory() - before) < 2e6
    assert ring.snapshot()[0][-1] == pytest.approx(3600.0 * hours, abs=2e-3)


@pytest.fixture
def run():
    return None


@pytest.fixture
def box(monkeypatch, run):
    """Return a black box of ``run`` whose process is the test."""
    ours = SimpleNamespace(sent=[], answers=[], closed=threading.Event())

    def receive():
        while not ours.answers:
            if ours.closed.wait(0.001):
                raise EOFError
        return ours.answers.pop(0)

    def send(message):
        ours.sent.append((message[0], black_box.pickle.loads(message[1])))

    pipe = SimpleNamespace(send=send, recv=receive)
    monkeypatch.setattr(black_box, "_start", lambda ring: (SimpleNamespace(wait=lambda _: None), pipe))
    box = BlackBox(0.01, JOINTS, run)
    yield SimpleNamespace(box=box, **vars(ours))
    box.close()
    ours.closed.set()


def triggers(box, count):
    end = machine_time.monotonic() + 5.0
    while len(found := [content for note, content in box.sent if note == "dump"]) < count:
        assert machine_time.monotonic() < end, found
        machine_time.sleep(0.001)
    return found


def event(time, response, kind=SafetyKind.SENSOR_FROZEN):
    return SafetyEvent(time, Finding(kind, "l_foot_ft", "it repeats"), response)


def test_a_fault_is_written_at_once_and_warnings_alone_once_a_minute(box):
    events = []
    for time, new in (
        (1.0, None),
        (2.0, event(2.0, Response.WARN)),
        (30.0, event(30.0, Response.WARN, SafetyKind.FAILED_TICK)),
        (40.0, event(40.0, Response.FREEZE, SafetyKind.TILT)),
        (41.0, None),
        (101.0, event(101.0, Response.WARN, SafetyKind.MOTOR_WARM)),
    ):
        events += [new] if new else []
        state = WalkingState.FAULT if time in (40.0, 41.0) else WalkingState.WALKING
        box.box.record(log_at(time, state), MEASURED, tuple(events))
    found = triggers(box, 3)
    assert [(each.reason, each.is_fault, each.time) for each in found] == [
        ("sensor_frozen", False, 2.0),
        ("tilt", True, 40.0),
        ("motor_warm", False, 101.0),
    ]
    assert [len(each.events) for each in found] == [1, 3, 4]
    assert found[1].state == "fault: walking"
    columns = next(content for note, content in box.sent if note == "recording").columns
    assert columns["sensors::contact_wrenches"] == slice(3 * JOINTS, 3 * JOINTS + 24)


def test_a_fault_without_an_event_is_written_too(box):
    box.box.record(log_at(1.0), MEASURED, ())
    box.box.record(log_at(1.01, WalkingState.FAULT), MEASURED, ())
    (found,) = triggers(box, 1)
    assert (found.reason, found.is_fault) == ("fault", True)


@pytest.mark.parametrize("run", [lambda: None])
def test_a_run_that_cannot_be_pickled_is_named_and_the_rest_is_handed_on(box):
    box.box.record(log_at(1.0, WalkingState.FAULT), MEASURED, ())
    assert triggers(box, 1)[0].reason == "fault"
    box.box.close()
    wait_until(lambda: box.sent[-1][0] == "end", "end")
    assert "run" not in [note for note, _ in box.sent]
    assert "black box: the 'run' cannot be handed on: PicklingError" in "\n".join(box.box._lines.copy())


def test_a_dump_that_is_asked_for_is_answered_with_its_folder(box):
    with pytest.raises(StateError, match="the robot has not been prepared yet"):
        box.box.dump()
    box.box.record(log_at(1.0), MEASURED, ())
    box.answers.append((1, "runs/x: the last 1.0 s"))
    assert box.box.dump() == "runs/x: the last 1.0 s"
    (found,) = triggers(box, 1)
    assert (found.reason, found.is_fault, found.is_asked) == ("asked for", False, True)


def test_a_dump_is_refused_at_once_where_the_process_that_writes_has_ended(box):
    box.box.record(log_at(1.0), MEASURED, ())
    box.closed.set()
    with pytest.raises(StateError, match="the process that writes has ended"):
        box.box.dump()


def test_what_is_read_is_recorded_with_its_age(box):
    measured = replace(MEASURED, time=0.99, contact_wrenches_time=0.98)
    signals = sensor_signals(log_at(1.0), measured)
    assert signals["sensors::age"] == pytest.approx((0.01, 0.02, 0.01))
    assert "sensors::imu::orientation" not in signals
