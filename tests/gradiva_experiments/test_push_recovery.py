"""Pushes on a walk: forks are exact copies, the search of an impulse, rows and sums, what an interrupted run keeps."""

import dataclasses
import json
import math
import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import Push
from gradiva_experiments import ExperimentOptions, Pool, continued_walks, find_experiment
from gradiva_experiments.campaign.trial_rows import read_rows
from gradiva_experiments.command import TypedOptions
from gradiva_experiments.continued_walks import PHASES, STANDING, WATCHED, ImpulseSearch, PushedWalk, in_fork
from gradiva_experiments.shipped import push_recovery
from gradiva_experiments.shipped.push_recovery import level_impulse
from tests.gradiva_experiments.fake_pool import ImmediatePool

ADAPTED = (SteppingMode.OFF, SteppingMode.PLACE_AND_TIME)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pushes": 2, "durations": (0.1, 1.0)}, r"--pushes 2 --duration 1: pushes 0\.8 s apart would overlap"),
        ({"turn": 0.2, "speeds": (0.0,)}, r"--turn 11\.4592: the robot stands"),
    ],
)
def test_pushes_that_overlap_and_turns_of_a_robot_that_stands_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        push_recovery.cases(ExperimentOptions(**options))


def test_a_map_says_in_its_title_how_it_was_pushed_and_walked():
    options = ExperimentOptions(pushes=2, turn=math.radians(12.0))
    assert push_recovery._walk_in_words(options, 0.3) == "0.3 m/s, turning at 12 °/s"
    assert push_recovery._walk_in_words(options, 0.0) == "0 m/s"
    assert push_recovery._pushes_in_words(options, 0.1) == "2 pushes of 0.1 s, 0.8 s apart"
    assert push_recovery._pushes_in_words(ExperimentOptions(), 0.1) == "push of 0.1 s"


def start(tmp_path, pool=None, **options):
    options = ExperimentOptions(**{"durations": (0.1,), "speeds": (0.1,), **options})
    return find_experiment("push_recovery").start(options, tmp_path, pool, lambda done, total, text: None)


@pytest.mark.parametrize("limit", [0, 1, 4, 5, 6, 17, 39, 40])
def test_the_search_finds_the_largest_impulse_that_is_survived_in_few_trials(limit):
    search = ImpulseSearch(direction=np.pi / 2.0, duration=0.5, unit=2.0)

    def push(pushing):
        force, duration, count = pushing
        assert count == 1
        level = round(force[1] * duration / 2.0)
        assert force == pytest.approx((0.0, level * 2.0 / 0.5, 0.0))
        return {"survived": level <= limit}

    outcomes = search.take(push)
    assert ImpulseSearch(np.pi / 2.0, 0.5, 2.0).taken(outcomes) == search
    assert search.impulse == 2.0 * limit
    assert search.lost == (None if limit == 40 else limit + 1)
    assert len(search.outcomes) <= 2 + limit / 3 + 2


def test_what_happens_in_a_fork_changes_nothing_here():
    state = [0.1]

    def go_on(way):
        state.append(way)
        return {"state": state, "process": os.getpid()}

    outcomes = [in_fork(go_on, way) for way in (1, 2)]
    assert [outcome["state"] for outcome in outcomes] == [[0.1, 1], [0.1, 2]]
    assert os.getpid() not in {outcome["process"] for outcome in outcomes}
    assert state == [0.1]


@pytest.mark.parametrize(("sweeps", "holes"), [(True, [3]), (False, [])])
def test_a_sweep_finds_the_smaller_push_that_fells_the_robot_and_changes_no_limit(sweeps, holes):
    search = ImpulseSearch(0.0, 0.1, 1.5, sweeps)
    search.take(lambda pushing: {"survived": (level := round(pushing[0][0] * 0.1 / 1.5)) < 11 and level != 3})
    assert (search.survived, search.lost, search.holes) == (10, 11, holes)
    assert sorted(search.outcomes) == (list(range(1, 12)) if sweeps else [5, 8, 9, 10, 11])


def test_an_error_in_a_fork_is_raised_with_its_traceback():
    def go_on(way):
        raise ValueError("no such push")

    with pytest.raises(RuntimeError, match="ValueError: no such push"):
        in_fork(go_on, 1)


@pytest.mark.parametrize("written", ["", '{"survived": tr'])
def test_a_fork_that_is_killed_is_named_also_in_the_middle_of_its_outcome(monkeypatch, written):
    def killed(run, way, writer):
        os.write(writer, written.encode())
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(continued_walks, "_run_and_exit", killed)
    with pytest.raises(RuntimeError, match="the process of a continuation was killed"):
        in_fork(lambda way: {}, 1)


def test_a_push_in_a_fork_is_bit_identical_to_that_on_a_walk_of_its_own(tmp_path):
    options = {"modes": (SteppingMode.OFF,), "directions": 1, "phases": ("late",), "quick": True}  # sweeps no levels
    run = start(tmp_path, pool := Pool(workers=1, folder=tmp_path / "rows"), **options)
    with pool:
        find_experiment("push_recovery").run(run)
    row, line = run.rows[0], json.loads(read_rows(pool.folder)[0]["value"])
    survived = round(row["value"] / level_impulse("icub_v2_7"))
    assert 4 <= survived <= 9  # 7 to 16 N·s
    assert "N·s: " in row["falls"][0]
    outcome = line["outcome"][str(survived)]

    setup = push_recovery.cases(run.options)[0].trial(0, run.options).setup()
    push = Push("chest", (survived * level_impulse("icub_v2_7") / 0.1, 0.0, 0.0), line["time"], 0.1)
    setup = dataclasses.replace(setup, simulation=dataclasses.replace(setup.simulation, pushes=(push,)))
    walk = SimulatedWalk(setup)
    walk.get_ready()
    walk.controller.walk(push_recovery.cases(run.options)[0].command)
    assert walk.run_until(lambda: walk.time >= outcome["time_s"], 20.0)
    assert walk.time == outcome["time_s"]
    assert walk.robot.truth().base_position.tolist() == outcome["base_position"]


class DecayingWalk:
    """Ticks of 10 ms in which the DCM error decays; from a time on the robot is down."""

    def __init__(self, size, rate, falls_at=np.inf, outside=()):
        self.time, self.robot, self.ticks = 5.0, SimpleNamespace(push=lambda push: None, fall=None), 0
        self.robot.truth = lambda: SimpleNamespace(base_position=np.zeros(3))
        self.controller = SimpleNamespace(state=None)
        self.error, self.falls_at = lambda t: size * np.exp(-rate * t) if t not in outside else 1.0, falls_at

    @property
    def is_down(self):
        return self.time >= self.falls_at

    def tick(self):
        error = self.error(round(self.time - 5.0, 2))
        self.time += 0.01
        dcm = SimpleNamespace(position=np.array([1.0, 2.0]))
        return SimpleNamespace(
            robot_state=SimpleNamespace(dcm_position=dcm.position + error * np.array([0.6, -0.8])),
            reference=SimpleNamespace(dcm=dcm),
        )


@pytest.mark.parametrize(
    ("walk", "before", "seconds", "survived"),
    [
        (DecayingWalk(0.1, 2.0), 0.001, np.log(8.0) / 2.0 + 1.0, True),  # 1.25 cm are reached after ln 8 / 2
        (DecayingWalk(0.1, 2.0), 0.02, np.log(4.0) / 2.0 + 1.0, True),  # 2.5 cm are 5/4 of what it had before
        (DecayingWalk(0.1, 2.0, outside=(1.5,)), 0.001, 2.5, True),
        (DecayingWalk(0.0, 1.0), 0.001, 0.5 + 1.0, True),  # watched from the end of the push on
        (DecayingWalk(0.1, 0.1), 0.001, 0.5 + WATCHED, True),
        (DecayingWalk(0.1, 2.0, falls_at=7.0), 0.001, 2.0, False),
    ],
)
def test_a_walk_is_watched_until_it_has_tracked_as_before_the_push_for_a_step(walk, before, seconds, survived):
    pushed = pushed_walk(walk, before)
    outcome = pushed.continued(((10.0, 0.0, 0.0), 0.5, 1))
    assert outcome["time_s"] - 5.0 == pytest.approx(seconds, abs=0.011)
    assert outcome["survived"] is survived


def test_the_largest_dcm_error_before_a_push_is_that_of_the_last_second():
    errors = continued_walks._DcmErrors(0.01)
    for error in (0.9, *np.linspace(0.05, 0.04, 99), np.inf):
        dcm = SimpleNamespace(position=np.array([1.0, 2.0]))
        state = SimpleNamespace(dcm_position=np.array([1.0 + error, 2.0])) if np.isfinite(error) else None
        assert not errors.wants(SimpleNamespace(robot_state=state, reference=SimpleNamespace(dcm=dcm)))
    assert errors.largest == pytest.approx(0.05)


def pushed_walk(walk, before=0.0):
    pushed = PushedWalk.__new__(PushedWalk)
    pushed.walk, pushed._link, pushed._turns = walk, "torso", False
    pushed._errors = SimpleNamespace(largest=before)
    return pushed


def test_two_pushes_are_apart_and_those_of_a_walk_that_turns_are_in_the_axes_of_its_heading():
    pushed, pushes = pushed_walk(DecayingWalk(0.0, 1.0)), []
    pushed._turns = True
    pushed.walk.robot.push = pushes.append
    pushed.walk.controller.plan = SimpleNamespace(at=lambda time: SimpleNamespace(heading=np.pi / 2.0))
    outcome = pushed.continued(((10.0, 5.0, 0.0), 0.1, 2))
    assert [push.start for push in pushes] == pytest.approx([5.0, 5.8])
    assert all(push.force == pytest.approx((-5.0, 10.0, 0.0)) for push in pushes)
    assert outcome["time_s"] == pytest.approx(5.9 + 1.0, abs=0.011)


def test_the_pendulum_survives_less_of_two_pushes_and_a_walk_may_turn():
    impulses = []
    for pushes in (None, 2):
        options = ExperimentOptions(plants=(Plant.IDEAL,), speeds=(0.3,), modes=ADAPTED[1:], pushes=pushes, turn=0.2)
        (case,) = push_recovery.cases(options)
        assert case.trial(0, options).command.angular == 0.2
        impulses.append(case.attainable(push_recovery.searches_of(case, options)["middle"][3], "middle"))
    assert 0.0 < impulses[1] < 0.9 * impulses[0]


def limit_of(search, mode):
    """Pushes ahead are survived up to 5 levels, backward 8; with adapted steps 7 and 7."""
    ahead = bool(np.cos(search.direction) > 0.0)
    return {"off": (8, 5), "place_and_time": (7, 7)}[mode][ahead]


class PushedPool(ImmediatePool):
    """Searches without a robot; a law survives one level less."""

    def __init__(self, weaker=""):
        super().__init__()
        self.weaker = weaker

    def value(self, job):
        mode, search = job.trial.overrides["step_adaptation.mode"], job.ways
        limit = limit_of(search, mode) - (job.trial.overrides["walking.model"] == self.weaker)

        def push(pushing):
            level = round(np.hypot(*pushing[0][:2]) * pushing[1] / search.unit)
            return {"survived": level <= limit, "reason": "base height"}

        return {"outcome": search.taken({}).take(push), "time": 5.0, "failure": ""}


def test_each_cell_is_a_row_and_each_map_of_adapted_steps_is_summed_beside_that_without(tmp_path):
    run = start(tmp_path, PushedPool(), modes=ADAPTED, directions=2, phases=("late", "early"))
    push_recovery.run_push_recovery(run)
    unit = level_impulse("icub_v2_7")
    cells, (total,) = run.rows[:-1], run.rows[-1:]
    assert [(row["mode"], row["phase"], row["direction_deg"]) for row in cells[:4]] == [
        ("off", "early", 0.0),
        ("off", "early", 180.0),
        ("off", "late", 0.0),
        ("off", "late", 180.0),
    ]
    assert [round(row["value"] / unit) for row in cells] == [5, 8, 5, 8, 7, 7, 7, 7]
    assert [row["outcome"] for row in cells] == ["measured"] * 4 + ["missed"] * 4
    asked = [f"no less than off, {fraction} of the pendulum's" for fraction in (0.8, 0.5)]
    assert [row["asked"] for row in cells] == ["as found"] * 4 + asked * 2
    assert cells[0]["paper"] < cells[4]["paper"] / 1.2  # a pendulum with its ankle, and with adapted steps
    assert cells[0]["falls"] == [f"{6 * unit:.1f} N·s: base height"]
    assert round(total["value"] / unit) == 28
    assert total["paper"] == pytest.approx(sum(row["paper"] for row in cells[4:]))
    assert total["reason"] == f"+8% over off ({26 * unit:.1f} N·s), worse in 2 of 4 cells"
    assert "| pendulum | impulse [N·s] |" in run.table_path.read_text()
    assert len(run.figures) == 2


def test_rows_and_sums_say_how_many_pushes_and_how_the_robot_turns(tmp_path):
    turn = math.radians(12.0)
    run = start(tmp_path, PushedPool(), modes=ADAPTED, directions=1, phases=("late",), pushes=2, turn=turn)
    push_recovery.run_push_recovery(run)
    assert [(row["phase"], row["pushes"], row["turn_degps"]) for row in run.rows] == [
        ("late", 2, 12.0),
        ("late", 2, 12.0),
        ("sum", 2, 12.0),
    ]
    standing = start(tmp_path, PushedPool(), modes=ADAPTED[:1], directions=1, speeds=(0.0, 0.1), phases=("late",))
    push_recovery.run_push_recovery(standing)
    assert [(row["pushes"], row["turn_degps"]) for row in standing.rows] == [(1, 0.0), (1, 0.0)]
    assert "| push_s | pushes | turn_degps |" in standing.table_path.read_text()


def test_the_turn_is_in_degrees_a_second_at_the_command_line_as_for_a_walk():
    typed = TypedOptions(plant="ideal", speed=[0.1], turn=12.0).asked()
    assert typed.turn == pytest.approx(0.2094395)
    assert push_recovery.cases(typed)[0].command.angular == pytest.approx(0.2094395)
    command = find_experiment("push_recovery").command(typed)
    assert command == "gradiva experiment push_recovery --speed 0.1 --turn 12"


def test_the_pendulum_beside_a_map_has_the_settings_of_its_walks():
    attainable, search = [], ImpulseSearch(np.pi / 2.0, 0.1, 1.0)
    for settings in ((), ("planner.footsteps.double_support_ratio=0.4",)):
        options = ExperimentOptions(settings=settings, plants=(Plant.IDEAL,), speeds=(0.1,), modes=ADAPTED[:1])
        (case,) = push_recovery.cases(options)
        attainable.append(case.attainable(search, "late"))
    assert len(set(attainable)) == 2, attainable


def test_laws_stand_beside_each_other_in_rows_sums_and_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(push_recovery.PushedCase, "attainable", lambda case, search, phase: 30.0)
    run = start(
        tmp_path,
        PushedPool(weaker="centroidal_mpc"),
        modes=ADAPTED,
        directions=2,
        phases=("late",),
        models=("dcm", "centroidal_mpc"),
    )
    push_recovery.run_push_recovery(run)
    unit = level_impulse("icub_v2_7")
    found = [(row["mode"], row.get("direction_deg"), row["model"], round(row["value"] / unit)) for row in run.rows]
    assert found[:4] == [
        ("off", 0.0, "dcm", 5),
        ("off", 0.0, "centroidal_mpc", 4),
        ("off", 180.0, "dcm", 8),
        ("off", 180.0, "centroidal_mpc", 7),
    ]
    assert [row[0::2] for row in found[8:]] == [row[0::2] for row in found[:2] + found[4:6]]
    assert [row["reason"] for row in run.rows[8:]] == [
        "",
        f"-15% over dcm ({13 * unit:.1f} N·s), worse in 2 of 2 cells",
        f"+8% over off ({13 * unit:.1f} N·s), worse in 1 of 2 cells",
        f"+9% over off ({11 * unit:.1f} N·s), worse in 1 of 2 cells;"
        f" -14% over dcm ({14 * unit:.1f} N·s), worse in 2 of 2 cells",
    ]
    figure = push_recovery.polar_figure(run.rows[:8], "two laws")
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["late, off", "late, place and time"]
    assert [line.get_label() for line in figure.axes[1].lines] == ["dcm", "centroidal_mpc", "pendulum"]
    assert figure.axes[1].lines[1].get_ydata() == pytest.approx(np.array([6, 6, 6]) * unit)


def test_a_robot_that_stands_is_pushed_once_in_each_direction_and_an_unknown_phase_is_refused(tmp_path):
    run = start(tmp_path, speeds=(0.0, 0.1), modes=(SteppingMode.OFF,), directions=4)
    found = [(cell.case.speed, cell.phase) for cell in push_recovery.cells_of(run)]
    assert found == [(0.0, "standing")] * 4 + [(0.1, phase) for phase in PHASES for _ in range(4)]
    with pytest.raises(ConfigError, match="unknown --phase 'latte'; did you mean 'late'"):
        push_recovery.cells_of(start(tmp_path, phases=("latte",)))


def test_a_robot_whose_plan_has_no_step_is_pushed_as_it_stands():
    controller = SimpleNamespace(plan=SimpleNamespace(steps=()))
    (moment,) = PushedWalk._moments(SimpleNamespace(walk=SimpleNamespace(time=3.0, controller=controller))).items()
    assert moment == (STANDING, 4.0)
