import gc

from gradiva.experiments.timing import benchmark_row, durations


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


def test_a_row_tells_median_tail_and_worst():
    row = benchmark_row("x", [1.0] * 98 + [2.0, 9.0], violation=1e-9)
    assert (row["name"], row["median_us"], row["max_us"], row["samples"]) == ("x", 1.0, 9.0, 100)
    assert 1.0 < row["p99_us"] <= 9.0
    assert row["max_violation"] == 1e-9
