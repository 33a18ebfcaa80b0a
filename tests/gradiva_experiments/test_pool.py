"""Jobs of an experiment on an engine: searches side by side, the journal from which an interrupted run goes on."""

from dataclasses import dataclass
from functools import partial

import pytest

from gradiva.common import ConfigError, WalkingError
from gradiva_experiments import Job, Pool
from gradiva_experiments.campaign import engine
from gradiva_experiments.campaign.driver import EngineError, InProcess, carry_out
from gradiva_experiments.continued_walks import Continuation, ContinuedWalk, OneWay, PushedFrom, RobotDownError
from gradiva_experiments.experiment import ExperimentOptions
from gradiva_experiments.pool import PoolBusyError, progress_of_jobs
from gradiva_experiments.trial import Trial

done = []


@dataclass(frozen=True, slots=True)
class Square(Job):
    """Squares a number; refuses 13, fails at 7, is interrupted at 5."""

    number: int

    def run(self):
        done.append(self.number)
        if self.number == 13:
            raise ConfigError("no luck")
        if self.number == 7:
            raise ValueError("seven")
        if self.number == 5:
            raise KeyboardInterrupt
        return {"square": self.number**2}

    def result(self, value):
        return value["square"]


def largest_below(limit):
    """Yield squares until one is beyond a limit; the result is the number before."""
    number = 0
    while (yield from Square(number).done()) <= limit:
        number += 1
    return number - 1


@pytest.fixture(autouse=True)
def nothing_done():
    done.clear()


def test_searches_choose_their_jobs_by_what_came_before_and_share_them():
    with Pool(workers=1) as pool:
        assert dict(pool.searches([largest_below(1), largest_below(10)])) == {0: 1, 1: 3}
        assert dict(pool.results([Square(4), Square(2)])) == {0: 16, 1: 4}
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_groups_end_as_a_whole_with_their_results_in_order():
    with Pool(workers=1) as pool:
        assert dict(pool.grouped([[Square(2), Square(1)], [Square(3)]])) == {0: [4, 1], 1: [9]}


def test_an_interrupted_run_goes_on_from_its_journal(tmp_path):
    with pytest.raises(KeyboardInterrupt), Pool(workers=1, folder=tmp_path) as pool:
        dict(pool.results([Square(1), Square(2), Square(5)]))
    done.clear()
    with Pool(workers=1, folder=tmp_path) as pool:
        assert dict(pool.results([Square(1), Square(3), Square(2)])) == {0: 1, 1: 9, 2: 4}
    assert done == [3]


@pytest.mark.parametrize(("number", "kind", "text"), [(13, WalkingError, "no luck"), (7, EngineError, "seven")])
def test_a_job_that_is_refused_or_fails_ends_the_run(number, kind, text):
    with Pool(workers=1) as pool, pytest.raises(kind, match=text):
        dict(pool.results([Square(number)]))


@dataclass(frozen=True, slots=True)
class Counted(Job):
    def run(self):
        return {"refused": 0}


def test_names_of_a_jobs_own_figures_are_free():
    with Pool(workers=1) as pool:
        assert dict(pool.results([Counted()])) == {0: {"refused": 0}}


def test_jobs_beside_one_that_fails_end_and_are_kept_before_its_error_is_raised(tmp_path):
    lines, found = [], {}
    with (
        Pool(workers=1, folder=tmp_path, note=lines.append) as pool,
        pytest.raises(EngineError, match="ValueError: seven"),
    ):
        found.update(pool.searches([Square(7).done(), largest_below(3), Square(4).done()]))
    assert lines == ["a trial failed, the others go on: ValueError: seven"]
    assert sorted(done) == [0, 1, 2, 4, 7]
    done.clear()
    with Pool(workers=1, folder=tmp_path) as pool:
        assert dict(pool.searches([largest_below(3), Square(4).done()])) == {0: 1, 1: 16}
    assert not done


def test_what_comes_after_a_loop_that_was_left_is_carried_out():
    with Pool(workers=1) as pool:
        for _ in pool.results([Square(1), Square(2), Square(3)]):
            break
        with pytest.raises(WalkingError, match="no luck"):
            dict(pool.results([Square(13), Square(4)]))
        assert dict(pool.results([Square(2), Square(4), Square(6)])) == {0: 4, 1: 16, 2: 36}


def test_jobs_within_the_loop_over_others_are_refused_by_name():
    with Pool(workers=1) as pool:
        results = pool.results([Square(1), Square(2)])
        assert next(results) == (0, 1)
        with pytest.raises(PoolBusyError, match="take all their results first"):
            dict(pool.results([Square(3)]))
        assert dict(results) == {1: 4}
        assert dict(pool.results([Square(3)])) == {0: 9}


@dataclass(eq=False)
class ManyAtOnce(InProcess):
    """Takes any number of calls at once, as a cluster does, and answers a withdrawn one as well."""

    def __post_init__(self):
        self.withdrawn = []

    @property
    def wants_more(self):
        return True

    def withdraw(self, keys):
        self.withdrawn.append(keys)


def test_open_calls_are_withdrawn_and_an_answer_that_comes_all_the_same_is_dropped():
    at_once, kept = ManyAtOnce("gradiva_experiments.pool:run_job"), []
    searches = carry_out([Square(number).done() for number in (1, 2, 3)], at_once, kept.append)
    next(searches)
    searches.close()
    assert at_once.withdrawn == [{Square(2).key, Square(3).key}]
    assert dict(carry_out([Square(4).done()], at_once, kept.append)) == {0: 16}
    assert (done, len(kept)) == ([1, 2, 3, 4], 2)


def test_a_call_of_a_cluster_that_was_withdrawn_may_be_put_again():
    cluster = engine.Engine("")
    for key in "ab":
        cluster.put(key, None)
    cluster.withdraw({"a"})
    cluster.put("a", None)
    assert [key for key, _ in cluster._queue] == ["b", "a"]


@pytest.mark.long
def test_several_workers_are_those_of_a_cluster(monkeypatch):
    monkeypatch.setattr(engine, "Engine", partial(engine.Engine, in_threads=True))
    with Pool(workers=2) as pool:
        assert dict(pool.searches([largest_below(1), largest_below(10)])) == {0: 1, 1: 3}
        with pytest.raises(WalkingError, match="no luck"):
            dict(pool.results([Square(13)]))
    assert not done


def test_options_of_a_quick_run_and_what_is_chosen_before_both():
    usual, quick, chosen = ExperimentOptions(), ExperimentOptions(quick=True), ExperimentOptions(seeds=7, seed=0)
    assert [options.count(50, 2) for options in (usual, quick, chosen)] == [50, 2, 7]
    assert [options.seed_or(2029) for options in (usual, chosen)] == [2029, 0]
    assert quick.either("all", "few") == "few"
    assert set(usual.robots_or_all) > {"g1", "talos"}


class Counting(ContinuedWalk):
    """Counts how often it is begun and how far it has come, without a robot; goes down before ``never``."""

    begun = 0

    def __init__(self):
        Counting.begun += 1
        self.times, self._reached = {"early": 1.0, "late": 2.0, "never": 3.0}, 0.0

    def advance(self, moment):
        if moment == "never":
            raise RobotDownError("base tilt")
        self._reached = self.times[moment]
        return self._reached

    def continued(self, way):
        return {"way": way, "from": self._reached}


class CountingFrom(Continuation):
    def begin(self):
        return Counting()


def test_a_walk_is_kept_from_job_to_job_as_long_as_they_come_in_its_order():
    trial = Trial("icub_v2_7", None)
    moments = ["early", "early", "late", "early", "never"]
    with Pool(workers=1) as pool:
        jobs = [CountingFrom(trial, moment, OneWay(place)) for place, moment in enumerate(moments)]
        found = dict(pool.results(jobs))
    assert [found[place].outcome for place in range(3)] == [
        {"way": w, "from": t} for w, t in enumerate((1.0, 1.0, 2.0))
    ]
    assert (found[3].time, found[4].failure) == (1.0, "goes down before: base tilt")
    assert Counting.begun == 2


def test_a_job_shows_what_it_does_where_its_progress_is_read_and_leaves_no_file(tmp_path, monkeypatch):
    path, seen = tmp_path / "progress", []
    job = CountingFrom(Trial("icub_v2_7", None), "late", OneWay(7))
    monkeypatch.setattr(CountingFrom, "in_words", lambda job, way: seen.append(path.exists()) or f"way {way}")
    with progress_of_jobs(path) as now, Pool(workers=1) as pool:
        assert now() == ""
        list(pool.results([job]))
        assert (now(), seen) == ("icub_v2_7, late: way 7", [True])  # it was on the way there before
    with Pool(workers=1) as pool:
        list(pool.results([job]))
    assert not path.exists()
    pushed = PushedFrom(Trial("icub_v2_7", None), "late", OneWay(None))
    assert pushed.in_words(((0.0, -90.0, 0.0), 0.1, 2)) == "push of 9.0 N·s to 270°"
