import pytest

from gradiva.yarp_modules.tick_timing import HISTOGRAM_EDGES_US, ModuleHealth


def test_ticks_are_counted_by_how_long_they_take():
    health = ModuleHealth("walking", 0.01)
    for duration in (0.00005, 0.0001, 0.003, 0.02, 1.0):
        health.record(duration, lateness=0.001)
    report = health.report()
    assert report.ticks == 5
    assert report.deadline_misses == 2
    assert report.histogram[0] == 2
    assert report.histogram[HISTOGRAM_EDGES_US.index(5000)] == 1
    assert report.histogram[HISTOGRAM_EDGES_US.index(20000)] == 1
    assert report.histogram[-1] == 1
    assert sum(report.histogram) == 5
    assert report.tick_median_us == pytest.approx(3000.0)
    assert report.tick_max_us == pytest.approx(1e6)
    assert report.lateness_p99_us == pytest.approx(1000.0)


def test_percentiles_are_of_the_last_thousand_ticks_the_maximum_of_all():
    health = ModuleHealth("walking", 0.01)
    health.record(0.5)
    for _ in range(1000):
        health.record(0.002)
    report = health.report()
    assert report.tick_p99_us == pytest.approx(2000.0)
    assert report.tick_max_us == pytest.approx(500000.0)


def test_a_tick_that_fails_is_timed_and_overruns_are_counted():
    health = ModuleHealth("walking", 0.01)

    def fail():
        with health.tick(missed=3):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        fail()
    assert (health.report().ticks, health.report().overruns) == (1, 3)


def test_a_report_before_the_first_tick_and_its_names():
    items = ModuleHealth("walking", 0.01).report().items()
    assert items[0] == ["module", "walking"]
    assert dict(items)["ticks"] == 0
    assert dict(items)["period_ms"] == 10.0
