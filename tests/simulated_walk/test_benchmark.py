"""Durations of layers, calls and contacts."""

import gc
from types import SimpleNamespace

import pytest

from gradiva.common import FootContact, Side, SoleRectangle
from gradiva.contacts import ViscoElasticContact
from gradiva.simplified_model import SolverTimes
from gradiva.simulated_walk import benchmark, recorded_ticks
from gradiva.simulated_walk.recorded_ticks import (
    ComparedDurations,
    RecordedTicks,
    benchmark_row,
    durations,
    noted_calls,
    timed_calls,
)


def test_calls_are_made_in_order_and_the_first_do_not_count():
    made = []
    samples = durations([lambda number=number: made.append(number) for number in range(100)])
    assert made == list(range(100))
    assert len(samples) == 90
    assert min(samples) >= 0.0


def test_garbage_collection_is_off_while_timing_and_on_again_after():
    states = []
    durations([lambda: states.append(gc.isenabled())])
    assert states == [False]
    assert gc.isenabled()


@pytest.fixture
def clock(monkeypatch):
    """Processor time [s] that only the calls of a test move."""
    now = SimpleNamespace(time=0.0)
    monkeypatch.setattr(recorded_ticks.time, "process_time", lambda: now.time)
    return now


def taking(clock, *durations_us):
    """Return a function whose calls take these durations one after the other, [µs]."""
    left = list(durations_us)

    def call():
        clock.time += 1e-6 * left.pop(0)

    return call


def test_a_reference_is_called_before_every_ten_calls_and_gives_the_ratio(clock):
    call, reference = taking(clock, *[4.0] * 25), taking(clock, 8.0, 9.0, 8.0)
    found = ComparedDurations.measure([call] * 25, reference)
    assert found.calls.tolist() == pytest.approx([4.0] * 23)
    assert found.reference.tolist() == pytest.approx([8.0, 9.0, 8.0])
    assert found.ratio == pytest.approx(0.5)
    assert found.where(found.calls > 5.0).calls.size == 0


def test_of_several_passes_the_least_duration_of_each_call_and_reference_is_kept(clock):
    call, begun = taking(clock, 3.0, 1.0, 2.0, 5.0, 4.0, 4.0), []
    found = ComparedDurations.least([call] * 2, taking(clock, 7.0, 6.0, 9.0), lambda: begun.append(len(begun)), 3)
    assert found.calls.tolist() == pytest.approx([2.0, 1.0])
    assert (found.reference.tolist(), begun) == (pytest.approx([6.0]), [0, 1, 2])


def test_a_row_has_median_tail_and_worst():
    row = benchmark_row("x", [1.0] * 98 + [2.0, 9.0], violation=1e-9)
    assert (row["name"], row["median_us"], row["max_us"], row["samples"]) == ("x", 1.0, 9.0, 100)
    assert (row["clock"], benchmark_row("y", [1.0], clock="wall")["clock"]) == ("processor", "wall")
    assert 1.0 < row["p99_us"] <= 9.0
    assert row["max_violation"] == 1e-9


SOLE = SoleRectangle(x=(-0.0535, 0.1065), y=(-0.031, 0.041), z=0.0)


def test_the_rows_of_the_benchmark_are_one_foot_each():
    rows = benchmark.contact_rows(SOLE)
    assert [row["name"] for row in rows] == ["contacts.viscoelastic_wrench", "contacts.rate"]
    assert all(row["median_us"] > 0.0 and row["samples"] > 1000 for row in rows)


def test_the_foot_that_is_timed_stands_on_its_whole_sole_and_on_parts_of_it():
    model = ViscoElasticContact(SOLE, Side.LEFT)
    contact = FootContact(True, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 1e6, 1e4)
    shares = [
        model.loaded_moments(benchmark._rocking(0.1 * index), contact).area / (0.16 * 0.072) for index in range(63)
    ]
    assert min(shares) > 0.1
    assert sum(share < 0.999 for share in shares) / 63 == pytest.approx(0.5, abs=0.15)


def test_calls_of_layer_2_that_decide_have_a_row_of_their_own(clock):
    times = SolverTimes(0.02)

    def update(duration_us):
        clock.time += 1e-6 * duration_us
        if duration_us > 1.0:
            times.note(0.0, 0.0, is_fallback=False)

    layer = SimpleNamespace(solver_times=times, update=update)
    ticks = RecordedTicks(model_control=[(duration,) for duration in (9.0, 1.0, 5.0, 1.0, 7.0, 1.0, 1.0)])
    ticks.ten_steps = taking(clock, 4.0)
    every, decision = benchmark.model_control_rows(layer, ticks, "icub", "mpc")
    assert (every["name"], every["samples"]) == ("model_control.mpc/icub", 7)
    assert (every["median_us"], every["ten_steps_ratio"]) == (pytest.approx(1.0), pytest.approx(0.25))
    assert (decision["name"], decision["samples"]) == ("model_control.mpc.decision/icub", 3)
    assert (decision["median_us"], decision["ten_steps_ratio"]) == (pytest.approx(7.0), pytest.approx(1.75))
    layer.solver_times, ticks.ten_steps = None, taking(clock, 4.0)
    assert [row["name"] for row in benchmark.model_control_rows(layer, ticks, "icub", "dcm")] == [
        "model_control.dcm/icub"
    ]


class Layer:
    def command(self, state, reference, period, relaxed=False):
        return state, reference, period, relaxed


def test_the_arguments_of_calls_are_noted_within_the_context():
    layer, noted = Layer(), []
    with noted_calls(layer, "command", lambda *given: noted.append(given)):
        assert layer.command("state", "reference", 0.001, relaxed=True) == ("state", "reference", 0.001, True)
    layer.command("later", "reference", 0.001)
    assert noted == [("state", "reference", 0.001)]


def test_calls_are_timed_where_they_count():
    layer, counts = Layer(), iter([True, False, True])
    durations_us = timed_calls(layer, "command", lambda: next(counts))
    for period in (0.001, 0.002, 0.003):
        assert layer.command("state", "reference", period)[2] == period
    assert len(durations_us) == 2
