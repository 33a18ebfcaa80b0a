"""Campaigns: their rows are there once, whatever dies; their report and their comparison."""

import importlib
import json
import os
import re
import shlex
import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva_experiments.campaign import campaign as campaign_module
from gradiva_experiments.campaign import command, trial_rows
from gradiva_experiments.campaign.campaign import CampaignResult, begin, is_success, read_result, walk_trial
from gradiva_experiments.campaign.engine import Engine, WalkProcess, dask_environment, noted_interrupts
from gradiva_experiments.campaign.report import (
    binned,
    compare_campaigns,
    not_walked,
    summary,
    write_campaign_comparison,
    write_campaign_report,
)
from gradiva_experiments.campaign.statistics import compare_rates, compare_scores, wilson_interval
from gradiva_experiments.campaign.tables import (
    TableOptions,
    inputs_that_matter,
    markdown,
    outcome_lines,
    paired_lines,
    publish_table,
)
from gradiva_experiments.campaign.trial_rows import TrialRows
from tests.gradiva_experiments.fake_trials import CYCLIC, TEMPORARY, TROUBLED, WALK
from tests.gradiva_experiments.killed_campaign import KilledCampaign, growth_of

FILE = """
seeds = 40
walk.duration = 1.0
[grid]
speed = [0.1, 0.2, 0.3]
"""
COUNT = 120


def started(tmp_path, text=FILE, name="speeds"):
    path = tmp_path / f"{name}.toml"
    path.write_text(text)
    return begin(path, tmp_path)


def in_threads(workers=2, **options):
    return Engine(WALK, workers=workers, in_threads=True, **options)


def check_whole(folder, count=COUNT):
    result = read_result(folder)
    assert len(result.rows) == len({row["key"] for row in result.rows}) == count
    assert not list((folder / "rows").glob("*.jsonl"))
    return result


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walked")
    run = started(folder)
    run.run(in_threads)
    return run.folder


def test_each_trial_has_a_row_and_one_that_failed_is_a_row(walked):
    rows = check_whole(walked).rows
    failed = [row for row in rows if row["outcome"] == "failed"]
    assert [(row["seed"], row["speed"]) for row in sorted(failed, key=lambda row: row["speed"])] == [
        (13, 0.1),
        (13, 0.2),
        (13, 0.3),
    ]
    assert failed[0]["cause"] == "ValueError: a bad seed"
    assert "Traceback" in failed[0]["error"]
    assert sum(map(is_success, rows)) == COUNT - 3 - 19
    assert rows[0]["command"].startswith("gradiva walk --seed ")


def test_a_command_that_no_plan_fulfils_is_refused():
    row = walk_trial({"robot": "icub_v2_7", "speed": 9.0})
    assert row["outcome"] == "refused"
    assert row["reason"].startswith("no plan: forward speed 9.0 m/s is outside its limits")


def test_the_reasons_of_trials_that_did_not_walk_are_a_line_each_whatever_their_numbers(walked):
    rows = [{"outcome": "walked", "reason": "the plan is done"}] * 3
    rows += [{"outcome": "refused", "reason": f"com={com} is more than 3 times zmp=1.5"} for com in (6.0, 7.25)]
    rows += [{"outcome": "refused", "reason": "unknown key"}]
    assert not_walked(CampaignResult("some", walked, (), 6, rows)) == [
        "2 of 6 refused, the first: com=6.0 is more than 3 times zmp=1.5",
        "1 of 6 refused: unknown key",
    ]
    assert not_walked(read_result(walked)) == ["3 of 120 failed: ValueError: a bad seed"]
    many = [{"outcome": "refused", "reason": f"key {'k' * number}"} for number in range(10)]
    assert not_walked(CampaignResult("many", walked, (), 10, many))[-1] == "2 for 2 other reasons"


def test_a_call_that_dies_raises_or_hangs_is_an_answer_and_the_others_go_on():
    with Engine(TROUBLED, workers=1, in_threads=True, timeout=60.0) as engine:
        for number in (0, 1, 2, 3, 4, 5, 6, 8):
            engine.put(str(number), number)
        answers = dict(iter(lambda: engine.next(30.0), None))
        engine.timeout = 0.3  # its process has been started by now
        engine.put("7", 7)
        answers |= [engine.next(30.0)]
    assert len(answers) == 9
    assert answers["3"].error == "its process was killed by SIGABRT"
    assert answers["5"].error.endswith("ValueError: five\n")
    assert answers["7"].error == "no answer within 0.3 s"
    assert [answers[key].value["double"] for key in "0124"] == [0, 2, 4, 8]
    assert len({answers[key].value["process"] for key in "012"}) == 1


def test_the_memory_of_a_process_does_not_grow_with_its_calls():
    with Engine(CYCLIC, workers=1, in_threads=True) as engine:
        for number in range(8):
            engine.put(str(number), number)
        memory = [answer.memory_mb for _, answer in iter(lambda: engine.next(30.0), None)]
    assert len(memory) == 8
    assert memory[-1] < memory[0] + 25.0


def test_temporary_files_of_a_process_go_with_it_though_it_is_killed():
    process = WalkProcess()
    folder = Path(process.call(TEMPORARY, 0, 60.0)["value"])
    assert folder.is_dir()
    process.end()
    assert not folder.exists()
    assert not folder.parent.exists()


def test_the_page_of_campaigns_has_the_settings_of_a_cluster_of_ones_own():
    page = Path(__file__).parents[2] / "docs" / "how_to" / "campaigns.md"
    lines = re.findall(r"^export (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    exported = dict(word.split("=", 1) for line in lines for word in shlex.split(line))
    assert exported == {**dask_environment(), "OMP_NUM_THREADS": "1"}


def test_what_is_interrupted_goes_on_and_loses_no_row(tmp_path):
    for after in (30, 70):
        run = started(tmp_path)

        def interrupt(done, text, after=after):
            if done >= after:
                raise KeyboardInterrupt

        run.progress = interrupt
        with pytest.raises(KeyboardInterrupt):
            run.run(in_threads)
        assert len(read_result(run.folder).rows) == after
    lines = []
    run = started(tmp_path)
    run.note = lines.append
    run.run(in_threads)
    check_whole(run.folder)
    assert lines[0] == "70 of 120 trials have been walked before"


def test_rows_are_in_the_order_of_the_file_whichever_ended_first(walked):
    keys = walked / "trials.keys"
    text = keys.read_text()
    order = text.split()
    try:
        for expected in (order, order[::-1]):
            keys.write_text("".join(f"{key}\n" for key in expected))
            assert [row["key"] for row in read_result(walked).rows] == expected
    finally:
        keys.write_text(text)


def test_progress_of_one_trial_is_in_the_singular_and_has_a_time_left_once_it_knows_a_rate(tmp_path):
    run, texts, notes = started(tmp_path, "walk.duration = 1.0\n[grid]\nspeed = [0.1]\n"), [], []
    run.progress, run.note = lambda done, text: texts.append(text), notes.append
    run.run(lambda: in_threads(workers=1))
    assert run._text(0, 0) == "0 of 1 trial"
    assert re.fullmatch(r"1 of 1 trial, \d+ a minute, 0:00:00 left", texts[-1])
    assert notes[0].startswith("1 trial on 1 worker, ")


def test_a_campaign_that_grows_walks_the_new_trials_alone(walked, tmp_path):
    (tmp_path / walked.name).symlink_to(walked)
    run = started(tmp_path, FILE.replace("seeds = 40", "seeds = 41"))
    seen = []
    run.progress = lambda done, text: seen.append(done)
    run.run(in_threads)
    assert (min(seen), max(seen)) == (COUNT, COUNT + 3) or (min(seen), max(seen)) == (COUNT + 1, COUNT + 3)
    started(tmp_path)  # the shorter file again
    (walked / "trials.keys").write_text(
        "".join(f"{trial.key}\n" for trial in started(tmp_path).campaign.trials()), encoding="utf-8"
    )
    assert len(read_result(walked).rows) == COUNT


def test_a_full_disk_pauses_and_loses_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr(trial_rows, "_RETRY", 0.01)
    run, lines, refused = started(tmp_path), [], iter(range(3))
    run.note = lines.append
    add = campaign_module.TrialRows.add

    def full(rows, row):
        if len(rows.keys) == 50 and next(refused, None) is not None:
            raise OSError(28, os.strerror(28))
        add(rows, row)

    monkeypatch.setattr(campaign_module.TrialRows, "add", full)
    run.run(in_threads)
    check_whole(run.folder)
    assert [line.partition(":")[0] for line in lines[1:]] == ["paused", "the disk can be written again"]
    assert "No space left on device" in lines[1]


def test_a_disk_that_is_full_at_the_start_pauses_and_leaves_whole_files(tmp_path, monkeypatch):
    monkeypatch.setattr(trial_rows, "_RETRY", 0.01)
    run, lines, refused, replace = started(tmp_path), [], iter(range(2)), os.replace
    run.note = lines.append

    def full(source, target):
        if target.name == "trials.keys" and next(refused, None) is not None:
            raise OSError(28, os.strerror(28))
        replace(source, target)

    monkeypatch.setattr(campaign_module.os, "replace", full)
    run.run(in_threads)
    check_whole(run.folder)
    assert [line.partition(":")[0] for line in lines[:2]] == ["paused", "the disk can be written again"]
    assert not list(run.folder.glob("*.unfinished"))


def test_files_of_a_campaign_that_another_driver_walks_stay(tmp_path):
    run = started(tmp_path)
    with TrialRows(run.folder / "rows"):
        other = started(tmp_path, FILE.replace("seeds = 40", "seeds = 1"))
        with pytest.raises(ConfigError, match="another run writes to it"):
            other.run(in_threads)
    assert [path.name for path in run.folder.iterdir()] == ["rows"]


@pytest.mark.parametrize("missing", [True, False])
def test_an_error_of_the_report_does_not_hide_ctrl_c(gradiva, tmp_path, monkeypatch, missing):
    run = started(tmp_path)

    def interrupted(console, campaign_run, *_):
        if not missing:
            campaign_run.folder.mkdir()
            (campaign_run.folder / "campaign.json").write_text('{"name": "speeds", "inputs": [], "count": 1}')
            (campaign_run.folder / "trials.keys").write_text("k\n")
            (campaign_run.folder / "report.html").mkdir()  # cannot be written
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "walk", interrupted)
    status, out, err = gradiva("campaign", str(tmp_path / "speeds.toml"), "--out", str(tmp_path))
    assert status == 130
    assert "no report of what is done so far" in out + err
    assert ("is not the folder of a campaign" if missing else "cannot write") in out + err
    assert run.folder.exists() is not missing


def test_processes_that_are_killed_from_outside_lose_no_row(tmp_path):
    run, killed = started(tmp_path), []

    def kill(done, text):
        rows = read_result(run.folder).rows
        process = int(rows[-1].get("process") or 0) if rows else 0
        if process and process not in killed and len(killed) < 5:
            killed.append(process)
            os.kill(process, signal.SIGKILL)

    run.progress = kill
    run.run(in_threads)
    rows = check_whole(run.folder).rows
    assert len(killed) == 5
    assert sum(row["outcome"] == "failed" for row in rows) == 3  # of the bad seed


@pytest.mark.long
def test_killed_workers_scheduler_and_drivers_lose_no_row_and_double_none(tmp_path):
    """See `killed_campaign`, which does the same with real walks."""
    count = 2400
    started(tmp_path, FILE.replace("seeds = 40", f"seeds = {count // 3}"))
    run = KilledCampaign(tmp_path / "speeds.toml", WALK, timeout=500.0)
    assert run.run(count)
    assert [which for _, which in run.killed].count("worker") == 5
    growth = run.growth()
    assert growth
    assert max(growth.values()) < 0.2, growth  # of walks in milliseconds; a part of the rows is packed meanwhile
    check_whole(run.folder, count)


def test_growth_is_that_of_the_later_half_of_a_process():
    leaking = [(float(time), 2 * time, 200.0 + 2.0 * 2 * time) for time in range(100)]
    flat = [(float(time), 2 * time, 200.0 + min(time, 20)) for time in range(100)]
    assert growth_of(leaking) == pytest.approx(2.0)
    assert growth_of(flat) == 0.0
    assert growth_of(flat[:20]) is None


# -- statistics, report, comparison ------------------------------------------------------------------------------------


def test_wilson_interval_is_that_of_the_textbook():
    assert wilson_interval(9, 10) == pytest.approx((0.5958, 0.9821), abs=1e-4)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_paired_tests_count_what_differs_alone():
    rates = compare_rates([(True, True)] * 40 + [(True, False)] * 2 + [(False, True)] * 12)
    assert (rates.first, rates.second, rates.only_first, rates.only_second) == (42, 52, 2, 12)
    assert rates.p_value == pytest.approx(0.01294, abs=1e-4)
    scores = compare_scores([(1.0 + k, 1.5 + 1.1 * k) for k in range(8)])
    assert scores.difference == pytest.approx(0.85)
    assert scores.p_value == pytest.approx(2.0 / 2**8)
    assert compare_scores([(1.0, 1.0)]).p_value == 1.0


def test_the_report_has_rates_causes_closest_calls_and_their_commands(walked):
    text = write_campaign_report(read_result(walked)).read_text(encoding="utf-8")
    assert "98 of 120, 82 %" in text
    for part in ("Success and DCM error against each input", "Causes", "Closest calls", "<svg"):
        assert part in text
    assert "<td>speed</td><td>19</td>" in text
    assert "gradiva walk --seed 38 --duration 1 --speed 0.3" in text


def test_outcomes_are_a_table_by_robot_without_inputs_that_go_with_it(gradiva, walked, tmp_path):
    def row(robot, speed, plant, seed, outcome):
        return {"robot": robot, "speed": speed, "plant": plant, "seed": seed, "outcome": outcome}

    rows = [row("a", 0.1, "ideal", 1, "walked"), row("a", 0.1, "robot", 1, "walked"), row("a", 0.1, "robot", 2, "fell")]
    rows.append(row("b", 0.2, "robot", 1, "walked badly"))
    result = CampaignResult("tries", tmp_path, ("robot", "speed", "plant", "seed"), 4, rows)
    assert markdown(outcome_lines(result, "robot")).split("\n") == [
        "| robot | ideal | plant robot |",
        "| --- | --- | --- |",
        "| a | walked | 1 of 2 |",
        "| b | not walked | walked badly |",
    ]
    rows = [row("a", speed, "ideal", 1, "walked") for speed in (2, 10)]
    lines = outcome_lines(CampaignResult("tries", tmp_path, ("robot", "speed", "seed"), 2, rows), "robot")
    assert list(lines[0]) == ["robot", "2", "10"]
    status, out, _ = gradiva("campaign", "table", str(walked))
    assert (status, out.splitlines()[0]) == (0, "| speed [m/s] | outcome |")
    status, _, err = gradiva("campaign", "table", str(walked), "--by", "robot")
    assert status == 2
    assert "no input 'robot' varies, but speed, seed" in err


def test_scores_are_a_table_of_their_medians_and_largest_values(gradiva, walked):
    status, out, _ = gradiva("campaign", "table", str(walked), "--score", "dcm_error_m.max")
    assert (status, out.splitlines()[0]) == (0, "| speed [m/s] | success | DCM error [mm]: median, largest |")
    assert "| 0.1 | 39 of 40, 98 % (87 to 100 %) | 3, 4.9 |" in out.splitlines()
    _, out, _ = gradiva("campaign", "table", str(walked), "--score", "foot_slip_m")
    assert "| 0.1 | 39 of 40, 98 % (87 to 100 %) | – |" in out.splitlines()
    status, _, err = gradiva("campaign", "table", str(walked), "--score", "dcm_error")
    assert status == 2
    assert "no score 'dcm_error'" in err
    assert gradiva("campaign", "table", str(walked), "--score", "foot_slip_m", "--by", "speed")[0] == 2


def pair(robot, seed, gain, error, outcome="walked"):
    return {"robot": robot, "seed": seed, "gain": gain, "outcome": outcome, "dcm_error_m.rms": error, "code": "a"}


def paired_result(folder):
    before = [pair(robot, seed, 1.1, 0.01 + 0.001 * seed) for robot in ("a", "b") for seed in range(8)]
    after = [{**row, "gain": 1.4, "dcm_error_m.rms": 0.9 * row["dcm_error_m.rms"]} for row in before]
    after[-1] |= {"outcome": "fell"}
    return CampaignResult("gains", folder, ("gain", "robot", "seed"), 32, before + after, "abc1234")


def test_walks_that_differ_in_one_input_are_pairs_which_are_tested(tmp_path):
    result = paired_result(tmp_path)
    lines = paired_lines(result, "gain", ["dcm_error_m.rms"])
    assert lines[0] == {
        "robot": "a",
        "pairs": "8",
        "success: 1.1, 1.4, p": "8, 8, 1",
        "DCM error (rms) [mm]: 1.1, 1.4, p": "13.5, 12.2, 0.0078",
    }
    assert list(lines[1].values())[:3] == ["b", "8", "8, 7, 1"]
    assert list(lines[2].values()) == ["all", "16", "16, 15, 1", "–"]
    assert list(lines[2]) == list(lines[0])
    with pytest.raises(ConfigError, match="pairs need two values of 'seed', it has 0, 1"):
        paired_lines(result, "seed", [])


def test_trials_that_were_refused_or_failed_are_no_lost_walks_of_a_pair(tmp_path):
    result = paired_result(tmp_path)
    for number, row in enumerate(row for row in result.rows if row["gain"] == 1.4):
        row |= {"outcome": "refused" if row["robot"] == "b" else row["outcome"] if number % 2 else "failed"}
    lines = paired_lines(result, "gain", ["dcm_error_m.rms"])
    assert [list(line.values())[:3] for line in lines] == [
        ["a", "4", "4, 4, 1"],
        ["b", "0", "–"],
        ["all", "4", "4, 4, 1"],
    ]


def test_trials_that_were_refused_or_failed_are_no_lost_walks_of_a_comparison(tmp_path):
    result = paired_result(tmp_path)
    one, other = (
        replace(result, inputs=("robot", "seed"), rows=[row for row in result.rows if row["gain"] == gain])
        for gain in (1.1, 1.4)
    )
    other.rows[0] |= {"outcome": "refused"}
    one.rows[9] |= {"outcome": "failed"}
    comparison = compare_campaigns(one, other)
    rates = comparison.rates
    assert (rates.pairs, rates.first, rates.second, rates.only_first) == (14, 14, 13, 1)
    assert summary(comparison)[0] == "14 trials in common, paired by robot, seed; 2 more refused or failed"


def test_a_table_of_pairs_without_a_pair_is_refused(tmp_path):
    result = paired_result(tmp_path)
    others = [row | {"seed": row["seed"] + 100 * (row["gain"] == 1.4)} for row in result.rows]
    with pytest.raises(ConfigError, match="no two walks differ in 'gain' alone"):
        paired_lines(replace(result, rows=others), "gain", [])


def test_a_table_is_published_as_the_runs_of_experiments_are(tmp_path, reference, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = paired_result(tmp_path / "elsewhere" / "campaign-gains")
    path = publish_table(result, TableOptions(paired="gain", scores=("dcm_error_m.rms",)), tmp_path)
    assert path.name == "campaign-gains-paired.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["command"] == "gradiva campaign table elsewhere/campaign-gains --paired gain --score dcm_error_m.rms"
    assert (found["name"], found["commit"], found["figures"]) == ("campaign", "abc1234", [])
    assert found["what"] == "Campaign gains: 32 of 32 walks, 8 seeds from 0 on."
    results = importlib.import_module("reference_pages.results")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    text = results.runs_text("campaign", "gains --paired")
    assert "| b | 8 | 8, 7, 1 | 13, 11.7, 0.016 |" in text
    assert "All 3 rows are as asked." in text
    assert "gradiva campaign table FOLDER --publish" in results.runs_text("campaign", "others")
    assert "## table elsewhere/campaign-gains" in results.published_text()


def test_tables_are_asked_for_one_by_one(gradiva, walked):
    with pytest.raises(ConfigError, match="one of the three"):
        TableOptions(by="speed", matters=True)
    status, _, err = gradiva("campaign", "table", str(walked), "--matters")
    assert (status, "enough walks to say which" in err) == (2, True)


def test_the_report_names_the_inputs_that_explain_the_cost_of_the_walks(tmp_path):
    def row(seed, zmp, com):
        error = {"dcm_error_m.rms": 0.01 + 0.001 * (zmp - 2.0) ** 2, "zmp_error_m.rms": 1e-5 * com}
        return {"seed": seed, "zmp": zmp, "com": com, "robot": "a", "outcome": "walked", "options": "{}", **error}

    draws = np.random.default_rng(1).uniform(0.5, 3.5, (60, 2)).tolist()
    rows = [row(float(seed), *draw) for seed, draw in enumerate(draws)]
    result = CampaignResult("draws", tmp_path, ("zmp", "com", "robot", "seed"), 60, rows)
    found = inputs_that_matter(result)
    assert list(found) == ["zmp", "com"]
    assert found["zmp"] > 0.8
    assert found["com"] < 0.1
    assert "<h2>Inputs that matter</h2>" in write_campaign_report(result).read_text(encoding="utf-8")
    assert inputs_that_matter(replace(result, rows=rows[:10])) == {}


def test_ctrl_c_while_a_cluster_starts_is_noted_though_a_thread_from_before_may_take_it():
    ended = threading.Event()
    earlier = threading.Thread(target=ended.wait)
    earlier.start()
    before = signal.getsignal(signal.SIGINT)
    with noted_interrupts() as noted:
        os.kill(os.getpid(), signal.SIGINT)
    ended.set()
    earlier.join()
    assert noted == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_same_value_is_one_group_in_the_report_whichever_file_has_the_row(tmp_path, monkeypatch):
    monkeypatch.setattr(trial_rows, "_PART", 7)
    text = "seeds = 5\nwalk.duration = 1.0\nwalk.speed = 0.1\n[grid]\n"
    keys = "zmp_com_controller.walking.zmp = {}\n"
    run = started(tmp_path, text + keys.format("[1, 1.5]"))
    run.run(in_threads)
    rows = TrialRows(run.folder / "rows")  # a journal beside the parts
    found = read_result(run.folder).rows
    rows.add(found[0] | {"key": "more", "zmp_com_controller.walking.zmp": 1, "seed": 1})
    (run.folder / "trials.keys").write_text("more\n" + (run.folder / "trials.keys").read_text())
    groups = binned(read_result(run.folder).rows, "zmp_com_controller.walking.zmp")
    assert [(label, len(members)) for label, members in groups] == [("1", 6), ("1.5", 5)]


def test_two_campaigns_are_compared_on_their_common_trials(walked, tmp_path):
    run = started(tmp_path, FILE.replace("0.3]", "0.24]").replace("seeds = 40", "seeds = 20"), "slower")
    run.run(in_threads)
    comparison = compare_campaigns(read_result(walked), read_result(run.folder))
    assert comparison.rates.pairs == 38
    assert comparison.rates.p_value == 1.0
    assert summary(comparison)[0] == "38 trials in common, paired by speed, seed; 2 more refused or failed"
    assert "McNemar" in write_campaign_comparison(comparison, tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_varies_in_one_campaign_alone_cannot_be_paired(walked, tmp_path):
    run = started(tmp_path, FILE + "zmp_com_controller.walking.zmp = [1.0, 1.1]\n", "gains")
    run.run(in_threads)
    with pytest.raises(
        ConfigError, match=r"varies zmp_com_controller\.walking\.zmp, which the other campaign does not"
    ):
        compare_campaigns(read_result(walked), read_result(run.folder))


def test_trials_without_a_walk_are_counted_and_a_campaign_of_those_alone_ends_with_status_1(
    gradiva, walked, tmp_path, monkeypatch
):
    _, out, _ = gradiva("campaign", "table", str(walked))
    assert "| 0.1 | 39 of 40, 1 failed |" in out.splitlines()
    (tmp_path / walked.name).symlink_to(walked)
    (tmp_path / "speeds.toml").write_text(FILE)
    arguments = ("campaign", str(tmp_path / "speeds.toml"), "--out", str(tmp_path))
    _, out, _ = gradiva(*arguments)
    assert "98 of 120, 82 % (74 to 88 %) did what was commanded, 3 failed" in out
    rows = [{"outcome": "refused", "reason": "no plan"}, {"outcome": "failed", "reason": "died"}]
    monkeypatch.setattr(command, "read_result", lambda folder: CampaignResult("none", tmp_path, (), 2, rows))
    monkeypatch.setattr(command, "write_campaign_report", lambda result: tmp_path)
    status, out, _ = gradiva(*arguments)
    assert status == 1
    assert "did what was commanded, 1 refused, 1 failed" in out


def test_wrong_input_of_the_command_is_one_line(gradiva, tmp_path):
    status, _, err = gradiva("campaign", str(tmp_path / "none.toml"))
    assert status == 2
    assert "none.toml" in err
    status, _, err = gradiva("campaign", "report", str(tmp_path))
    assert status == 2
    assert "is not the folder of a campaign" in err


def test_the_help_of_the_command_has_the_options_of_a_run(gradiva):
    status, out, _ = gradiva("campaign", "--help")
    assert status == 0
    assert all(word in out for word in ("compare", "--scheduler", "--workers", "--json"))


def test_the_same_command_with_nothing_left_to_walk_reports_alone(gradiva, walked, tmp_path):
    (tmp_path / walked.name).symlink_to(walked)
    (tmp_path / "speeds.toml").write_text(FILE)
    status, out, _ = gradiva("campaign", str(tmp_path / "speeds.toml"), "--out", str(tmp_path), "--json", "-")
    assert status == 0
    assert json.loads(out)["walked"] == 98


def test_a_repeated_command_leaves_the_commit_of_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign_module, "current_commit", lambda: "abc1234")
    run = started(tmp_path, FILE.replace("seeds = 40", "seeds = 3"))
    run.run(in_threads)
    monkeypatch.setattr(campaign_module, "current_commit", lambda: "def5678")
    for seeds, commit in ((3, "abc1234"), (2, "abc1234"), (4, "def5678")):
        started(tmp_path, FILE.replace("seeds = 40", f"seeds = {seeds}")).run(in_threads)
        result = read_result(run.folder)
        assert (result.commit, len(result.rows)) == (commit, 3 * seeds)
