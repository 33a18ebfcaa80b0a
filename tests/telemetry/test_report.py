"""Plots of a report and its page."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from synthetic_walk import JOINTS, LEG, walk_log, walk_result

from gradiva.common import ConfigError, Side
from gradiva.telemetry import TRACKING_FIGURES, RunFolder, SignalLog, WalkRecord, draw_plot, write_report
from gradiva.telemetry.comparison import figure_cells
from gradiva.telemetry.key_figures import KEY_FIGURES, number, unhealthy_figures, unusual_figures
from gradiva.telemetry.page_plots import thinned
from gradiva.telemetry.plots import FROM_ABOVE, PLOTS
from gradiva.telemetry.plots import JOINTS as JOINT_PLOT
from gradiva.telemetry.report import drawn_values, heading, joint_table, tables, tiles, usual_note
from gradiva.telemetry.walk_panels import (
    TIGHT,
    attitude_panels,
    deflection_panels,
    drift_panels,
    external_wrench_panels,
    joint_figures,
    leg_torque_panels,
)

TITLES = [plot.title for plot in (FROM_ABOVE, *PLOTS, JOINT_PLOT)]
EVENT = {"time_s": 4.2, "kind": "tilt", "subject": "", "response": "freeze", "text": "the base is tilted by 40°"}


class Outline(HTMLParser):
    """Collect the requests of a page and whether its elements close."""

    def __init__(self, text):
        super().__init__()
        self.requests, self.open, self.headings = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)
        self.requests += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data")]

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h3":
            self.headings.append(data)


def drawn_data(text):
    """Return what the script of a page draws: its plots, and the columns of each run, the times last."""
    packed = re.search(r'class="packed-data">([^<]*)<', text)[1]
    page = json.loads(gzip.decompress(base64.b64decode(packed)))
    columns = [np.frombuffer(base64.b64decode(run["data"]), "<f4").reshape(-1, run["rows"]) for run in page["runs"]]
    return page, columns


def new_run(folder, log, result):
    run = RunFolder.create(folder, "walk", {"walking": {"speed": 0.15}})
    run.write_result(result)
    run.write_log(log, JOINTS, "icub_v2_7")
    return run


def bending_log(duration):
    """A walk of a robot with flexible joints."""
    log = walk_log(duration)
    deflections = {"simulation::flexible_joints::positions": 0.01 * np.sin(log.times)[:, None] * np.ones(4)}
    return SignalLog.from_arrays(log.times, {**{name: log[name] for name in log}, **deflections})


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a run of 25 s with all signals, safety events and a title that is markup."""
    result = walk_result() | {"title": "<script>alert(1)</script>", "safety_events": ["a < b", EVENT]}
    return write_report(new_run(tmp_path_factory.mktemp("runs"), bending_log(25.0), result))


@pytest.fixture(scope="module")
def poor_page(tmp_path_factory):
    """The page of a run without a result, and without the signals of ZMP reference, soft ground and simulation."""
    lacking = [name for name in walk_log(1.0) if name == "zmp::desired" or "contact::" in name or "simulation" in name]
    return write_report(new_run(tmp_path_factory.mktemp("runs"), walk_log(2.0, without=lacking), {})).read_text()


def test_the_page_has_all_plots_and_loads_nothing(page):
    text = page.read_text()
    outline = Outline(text)
    assert outline.headings == TITLES
    assert outline.open == []
    assert outline.requests == []
    assert "url(http" not in text
    assert "@import" not in text


def test_the_page_shows_outcome_figures_and_configuration(page):
    text = page.read_text()
    for part in ("walked", "stood for two seconds after the last step", "3.61", "15.3", "speed = 0.15"):
        assert part in text


def test_the_page_shows_what_oscillates_beside_its_healthy_band(page):
    text = page.read_text()
    assert "the loop oscillates at 50 Hz" in text
    beyond = '<b class="beyond">{}</b>'.format
    assert f"<th>shift</th><td>{beyond('1.23')}</td><td>{beyond('0.70')}</td><td>1.10 mrad</td>" in text
    assert "<th>healthy in shift</th><td>0.30</td><td>0.10</td><td>–</td>" in text


def test_the_page_of_a_long_run_is_small(page):
    assert page.stat().st_size < 2_000_000


def test_text_of_a_run_cannot_become_markup(page):
    text = page.read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_safety_events_are_listed(page):
    text = page.read_text()
    assert "a &lt; b" in text
    assert "4.20 s, tilt: the base is tilted by 40° (freeze)" in text


def test_plots_without_signals_are_left_out_and_named(poor_page):
    assert "“Zero moment point” is left out: the log has no zmp::desired." in poor_page
    assert "“Estimate against truth” is left out" in poor_page
    assert "Zero moment point" not in Outline(poor_page).headings


def test_the_plot_of_soft_ground_is_left_out_silently_on_other_grounds(poor_page):
    assert "Soft ground" not in poor_page


def test_a_result_without_figures_leaves_the_plots(poor_page):
    assert "Joints" in Outline(poor_page).headings


@pytest.mark.parametrize("ticks", [0, 1])
def test_a_run_that_never_began_has_a_report(tmp_path, ticks):
    log = SignalLog()
    for _ in range(ticks):
        log.append(0.0, {name: samples[0] for name, samples in ((n, walk_log(1.0)[n]) for n in walk_log(1.0))})
    text = write_report(new_run(tmp_path, log, {"outcome": "failed", "reason": "no solution"})).read_text()
    assert "no solution" in text
    assert Outline(text).headings == []


def test_a_fall_with_not_a_numbers_is_drawn(tmp_path):
    whole = bending_log(4.0)
    signals = {name: whole[name].copy() for name in whole}
    for samples in signals.values():
        samples[300:] = np.nan
    outline = Outline(
        write_report(new_run(tmp_path, SignalLog.from_arrays(whole.times, signals), walk_result())).read_text()
    )
    assert outline.headings == TITLES


def test_the_page_draws_the_samples_of_the_log_on_one_time_axis(page, log):
    run = RunFolder(page.parent)
    whole = WalkRecord.read(run).log
    drawn, [columns] = drawn_data(page.read_text())
    np.testing.assert_array_equal(columns[-1], whole.times.astype("<f4"))
    panel = next(plot for plot in drawn["plots"] if "panels" in plot)["panels"][0]
    measured, desired = (columns[line["column"]] for line in panel["lines"])
    np.testing.assert_array_equal(measured, whole["dcm::position::measured"][:, 0].astype("<f4"))
    np.testing.assert_array_equal(desired, whole["dcm::position::desired"][:, 0].astype("<f4"))
    assert [(line["name"], line["dashed"], line["colour"]) for line in panel["lines"]] == [
        ("measured", False, "#7b52b9"),
        ("desired", True, "--ink"),
    ]
    assert panel["title"] == "x [m]"
    in_double_support = whole["walking::is_double_support"][:, 0] > 0.5
    assert len(panel["shade"][0]) == np.sum(np.diff(in_double_support.astype(int), prepend=0) == 1)


def test_the_walk_from_above_has_every_footprint(page):
    above = drawn_data(page.read_text())[0]["plots"][0]
    assert [(shape["name"], shape["dashed"]) for shape in above["shapes"]] == [
        ("left", False),
        ("left", True),
        ("right", False),
        ("right", True),
    ]
    assert len(above["shapes"][0]["corners"]) > 5
    assert [path["name"] for path in above["paths"]] == ["ZMP", "DCM", "CoM"]


def test_the_drift_is_that_of_the_odometry_where_the_log_has_it(log):
    signals = {name: log[name] for name in log}
    signals["odometry::root_link::position"] = signals["simulation::root_link::position"] + [0.02, -0.03, 0.5]
    signals["root_link::position::measured"] = signals["simulation::root_link::position"] + [0.0, 0.0, 0.001]
    position, _ = drift_panels(WalkRecord(SignalLog.from_arrays(log.times, signals), JOINTS))
    np.testing.assert_allclose([curve.values[-1] for curve in position.curves], [20.0, -30.0, 1.0])


@pytest.mark.parametrize("size", [(12.1, 3.0), (4.0, 6.0)])
def test_a_walk_from_above_is_drawn_without_a_warning(log, caplog, size):
    figure = draw_plot("From above", WalkRecord(log, JOINTS, walk_result()))
    figure.set_size_inches(*size)
    figure.draw_without_rendering()
    assert caplog.messages == []


def test_a_base_that_looks_backward_is_shown_in_the_direction_of_walking(log):
    signals = {name: log[name] for name in log}
    signals["left_foot::orientation::measured"] = np.tile([0.0, 0.0, 0.3], (len(log), 1))
    backward = np.tile([0.02, -0.05, 0.4 - np.pi], (len(log), 1))
    for attitude, expected in ((backward, [-0.02, 0.05, 0.4]), (-0.1 * backward, [-0.002, 0.005, 0.1 * np.pi - 0.04])):
        signals["root_link::orientation::measured"] = attitude
        panels = attitude_panels(WalkRecord(SignalLog.from_arrays(log.times, signals), JOINTS))
        shown = [curve.values[-1] for panel in panels for curve in panel.curves]
        np.testing.assert_allclose(np.radians(shown), expected, atol=1e-12)


def test_red_bars_are_joints_nearer_to_a_limit_than_they_track_and_are_explained_where_they_are_drawn(log):
    positions = log["joints_state::positions::measured"]
    errors = np.abs(positions - log["joints_state::positions::desired"]).max(axis=0)
    assert errors.max() < np.radians(1.0)
    for margin, note in (
        (np.radians(1.0), ""),
        (0.9 * errors, f"red: {TIGHT}"),
        (np.radians(-1.0), f"red: {TIGHT}, {len(JOINTS)} beyond the limit"),
    ):
        limits = positions.min(axis=0) - margin, positions.max(axis=0) + margin
        table = joint_table(joint_figures(WalkRecord(log, JOINTS, joint_limits=limits)), JOINTS)
        assert re.findall(r'<small class="tight">(.*?)</small>', table) == [note] * bool(note)
        assert table.count('<td class="bar tight">') == len(JOINTS) * bool(note)


def test_caption_column_and_page_give_one_rule_of_red_bars():
    page = Path(__file__).parents[2] / "docs" / "how_it_works" / "results_and_falls.md"
    assert TIGHT in JOINT_PLOT.caption
    assert TIGHT in page.read_text(encoding="utf-8").replace("\n", " ")


def test_each_joint_has_its_largest_error_and_torque(log):
    errors, torques = joint_figures(WalkRecord(log, JOINTS))
    tracking = log["joints_state::positions::measured"] - log["joints_state::positions::desired"]
    np.testing.assert_allclose(errors.values, np.degrees(np.abs(tracking)).max(axis=0))
    np.testing.assert_allclose(torques.rms, np.sqrt((log["joints_state::torques::measured"] ** 2).mean(axis=0)))


def test_a_run_without_log_is_refused_by_name(run):
    run.log_path.unlink()
    with pytest.raises(ConfigError, match="there is no log"):
        write_report(run)


def test_the_badge_distinguishes_good_from_bad():
    assert "a push · another</p>" in heading({"pushes": ["a push", "another"]}, "run")
    fell = {
        "reason": "fell",
        "diagnosis": {"advice": "slower"},
        "floor_note": "the floor is <soft>",
        "position_limits": "x",
    }
    assert '<p class="run">next: slower</p><p class="run">the floor is &lt;soft&gt;</p>' in heading(fell, "run")
    assert 'class="outcome good">walked' in heading({"outcome": "walked"}, "run")
    assert 'class="outcome bad">fell' in heading({"outcome": "fell"}, "run")
    assert 'class="outcome open">stopped' in heading({"outcome": "stopped"}, "run")


def test_numbers_are_rounded_and_grouped():
    assert number(0.0215, 1e3, 1) == "21.5"
    assert number(-1204.0, 1.0, 0) == "−1\u202f204"
    assert number(-0.004, 1.0, 2) == "0.00"
    assert number(None, 1.0, 0) == "–"
    assert tiles({"max_tilt_rad": np.pi / 180}).count("1.0") == 1


def test_figures_of_a_table_of_the_result_are_shown_where_there_are_some():
    bending = {"flexible_joints": {"deflection_rad": 0.0841, "deflection_error_rad": {"rms": 1e-4, "max": 2e-3}}}
    shown = tiles(bending | {"mpc": {"decisions": 500, "fallbacks": 0, "late_decisions": 3}})
    assert re.findall(r'value">(.*?) <', shown) == ["4.82", "0.115", "500", "0", "3"]
    assert tiles({"flexible_joints": None, "mpc": None}) == ""


def test_figures_outside_their_healthy_bound_are_marked():
    healthy = {"foot_slip_m": 0.015, "stability_margins.margins.gain_db": 6.0, "dcm_error_m.max": 0.06}
    slipped = {"foot_slip_m": 0.02, "stability_margins": {"margins": {"gain_db": 8.0}}, "healthy": healthy}
    slip, gain = re.findall(r'class="tile( beyond)?">.*?class="label">healthy (.*?)</div>', tiles(slipped))
    assert slip == (" beyond", "up to 15.0")
    assert gain == ("", "from 6.0")
    for most, cell in ((0.05, "<td>50.0</td>"), (0.07, '<td><b class="beyond">70.0</b></td>')):
        shown = tables({"dcm_error_m": {"rms": 0.01, "max": most}, "healthy": healthy})
        assert f"<th>DCM</th><td>10.0</td>{cell}<td>60</td>" in shown
    assert "healthy" not in tiles({"foot_slip_m": 0.02})


def test_a_step_that_lands_early_has_a_negative_delay_in_tiles_and_comparisons_alike():
    (delay,) = [figure for figure in KEY_FIGURES if figure.key == "largest_step_delay_s"]
    for seconds, text in ((-0.2, "\N{MINUS SIGN}200"), (0.05, "50")):
        result = {"outcome": "walked", "largest_step_delay_s": seconds}
        label = "largest step delay (earlier: negative)"
        assert f'{label}</div><div class="value">{text} ' in tiles(result)
        assert figure_cells(delay, [result, result]) == [f"<td>{text}</td>"] * 2


def test_tiles_of_stability_margins_name_their_case_and_mark_a_peak_beyond_its_bound():
    margins = {"margins": {"gain_db": 8.0, "phase_deg": 50.0, "peak": 1.6}, "balance_peak": 6.0}
    bounds = {f"stability_margins.{name}": 2.0 for name in ("margins.peak", "balance_peak")}
    result = {"stability_margins": margins | {"case": "single support, gains of walking"}, "healthy": bounds}
    shown = re.findall(r'class="tile( \w+)?"><div class="label">(.*?)</div>', tiles(result))
    assert shown == [
        ("", "gain margin, wrench loop"),
        ("", "phase margin, wrench loop"),
        ("", "M_s from 5 Hz, wrench loop"),
        (" beyond", "M_s up to 5 Hz, balance, one foot, soft floor"),
    ]
    assert tiles(result).count("in single support, gains of walking") == 1
    assert unhealthy_figures(result) == "", "it was warned of before the walk, where it matters"


def test_speeds_and_ends_are_defined_where_they_stand_beside_what_was_commanded():
    result = {"duration_s": 17.4, "end_error_m": 0.036, "walking_speed_mps": 0.165, "held_ticks": 0}
    shown = tiles(result | {"commanded_duration_s": 10.0, "commanded_end_m": [1.82, -0.001]})
    assert '<div class="label">command: 10 s, ramps included</div>' in shown
    assert '<div class="label">commanded end: (1.82, 0.00) m</div>' in shown
    assert 'title="Distance over the time from the first lift-off to the last touch-down, ramps included."' in shown
    assert shown.count("title=") == 4
    assert "command" not in re.sub(r'title="[^"]*"', "", tiles(result)), "of older results"


def usual(least, most, unusual):
    return {"least": least, "most": most, "unusual": unusual}


def test_figures_that_are_worse_than_usual_are_marked_and_named_the_worst_first():
    figures = {"foot_slip_m": usual(0.001, 0.002, 0.0025), "dcm_error_m.rms": usual(0.004, 0.0061, 0.008)}
    result = {"foot_slip_m": 0.003, "dcm_error_m": {"rms": 0.02, "max": 0.04}, "healthy": {"foot_slip_m": 0.015}}
    result["usual"] = {"of": "4 good walks", "figures": figures}
    assert re.findall(r'class="tile( .*?)?">.*?usual (.*?)</div>.*?healthy (.*?)<', tiles(result)) == [
        (" unusual", "1.0–2.0", "up to 15.0")
    ]
    assert '<td><b class="unusual">20.0</b></td><td>4.0–6.1</td><td>40.0</td><td>–</td>' in tables(result)
    assert unusual_figures(result) == (
        "worse than usual: DCM error, rms 20.0 mm (usual 4.0–6.1), foot slip 3.0 mm (usual 1.0–2.0)"
    )
    tilted = {"max_tilt_rad": 0.02, "usual": {"figures": {"max_tilt_rad": usual(0.007, 0.008, 0.01)}}}
    assert unusual_figures(tilted) == "worse than usual: max tilt 1.1° (usual 0.4–0.5)"
    assert unusual_figures(tilted | {"max_tilt_rad": 0.0105}) == "", "0.6°, less than what is read above 0.57°"
    assert "usual: least and greatest of 4 good walks; amber" in usual_note(result)
    assert unusual_figures(result | {"outcome": "fell"}) == ""
    pushed = result | {"usual": result["usual"] | {"is_pushed": True}}
    assert unusual_figures(pushed).startswith("worse than usual, which is of walks without pushes: DCM error, rms")


def test_a_usual_figure_is_not_marked_though_it_is_beyond_the_bound_for_all_robots():
    known = {"of": "", "figures": {"foot_slip_m": usual(0.01, 0.02, 0.03)}}
    for slip, mark in ((0.029, ""), (0.031, " beyond")):
        shown = tiles({"foot_slip_m": slip, "healthy": {"foot_slip_m": 0.015}, "usual": known})
        assert f'class="tile{mark}">' in shown


@pytest.mark.parametrize(
    ("known", "mark"),
    [
        ({}, "beyond"),
        ({"chatter.shift.foot_force": usual(0.001, 0.0013, 0.002)}, ""),
        ({"chatter.shift.foot_force": usual(0.001, 0.0013, 0.0014)}, "beyond"),
        ({"chatter.shift.foot_force": usual(0.001, 0.0013, 0.0014), "healthy": 0.01}, "unusual"),
    ],
)
def test_the_oscillation_in_shift_is_coloured_like_other_figures(known, mark):
    bound = {"foot_force": known.pop("healthy", 0.0012), "zmp_m": 0.1}
    chatter = {"shift": {"foot_force": 0.0015, "zmp_m": 0.0001}, "healthy_shift": bound}
    result = {"chatter": chatter, "dcm_error_m": {"rms": 0.01, "max": 0.02}, "usual": {"of": "", "figures": known}}
    shown = f'<b class="{mark}">0.15</b>' if mark else "0.15"
    assert f"<th>shift</th><td>{shown}</td><td>0.10</td><td>–</td>" in tables(result)
    assert unhealthy_figures(result) == ""  # an oscillation has a line of its own


@pytest.mark.parametrize(
    ("force", "lasting", "hits"),
    [(0.015, 0.002, True), (0.015, 0.013, False), (0.011, 0.002, False), (0.015, None, False)],
)
def test_chatter_beyond_its_band_that_does_not_last_is_called_hits(force, lasting, hits):
    shift, healthy = ({"foot_force": one, "zmp_m": 0.0001} for one in (force, 0.012))
    chatter = {"shift": shift, "healthy_shift": healthy, "lasting_foot_force": lasting}
    shown = tables({"chatter": chatter, "dcm_error_m": {"rms": 0.01, "max": 0.02}})
    assert ("<th>quietest quarter of shift: the rest are hits, no oscillation</th>" in shown) == hits
    assert ("<th>quietest quarter of shift</th>" in shown) == (not hits)


def test_what_is_beyond_healthy_is_named_where_nothing_usual_is_known():
    result = {"foot_slip_m": 0.031, "healthy": {"foot_slip_m": 0.015}, "outcome": "walked"}
    assert unhealthy_figures(result) == "beyond healthy: foot slip 31.0 mm (healthy up to 15.0)"
    known = {"of": "", "figures": {"foot_slip_m": usual(0.01, 0.02, 0.03)}}
    for other in ({"usual": known}, {"outcome": "fell"}, {"foot_slip_m": 0.014}):
        assert unhealthy_figures(result | other) == ""


def test_a_figure_that_reads_like_the_bound_is_usual():
    result = {"foot_slip_m": 0.002549, "usual": {"of": "", "figures": {"foot_slip_m": usual(0.001, 0.002, 0.0025)}}}
    assert tiles(result).count("unusual") == unusual_figures(result).count("usual") == 0
    assert usual_note({}) == ""
    assert "usual figures: nothing to compare with: of other ground. All figures are defined on the page" in usual_note(
        {"usual": {"of": "nothing to compare with: of other ground", "figures": {}}}
    )


def test_a_run_that_is_worse_than_usual_in_one_figure_is_the_best_in_none():
    slip, tilt = (next(each for each in KEY_FIGURES if each.key == key) for key in ("foot_slip_m", "max_tilt_rad"))
    known = {"of": "", "figures": {"foot_slip_m": usual(0.001, 0.002, 0.0025)}}
    figures = (0.004, 0.01), (0.001, 0.02)
    results = [{"outcome": "walked", "foot_slip_m": a, "max_tilt_rad": b, "usual": known} for a, b in figures]
    assert figure_cells(slip, results) == ['<td class="unusual">4.0</td>', '<td class="best">✓ 1.0</td>']
    assert figure_cells(tilt, results) == ["<td>0.6</td>", '<td class="best">✓ 1.1</td>']


def test_a_comparison_marks_what_is_worse_than_usual_and_no_tick_time_as_the_best():
    slip = next(figure for figure in KEY_FIGURES if figure.key == "foot_slip_m")
    known = {"of": "", "figures": {"foot_slip_m": usual(0.001, 0.002, 0.0025)}}
    results = [{"outcome": "walked", "foot_slip_m": value, "usual": known} for value in (0.001, 0.004)]
    assert figure_cells(slip, results) == ['<td class="best">✓ 1.0</td>', '<td class="unusual">4.0</td>']
    times = next(figure for figure in TRACKING_FIGURES if figure.key == "tick_us.total.median")
    results = [{"outcome": "walked", "tick_us": {"total": {"median": value}}} for value in (100.0, 200.0)]
    assert figure_cells(times, results) == ["<td>100</td>", "<td>200</td>"]


def test_thinning_keeps_the_peaks_and_the_ends():
    times = np.arange(20000.0)
    samples = np.sin(times / 300.0)
    samples[12345] = 9.0
    samples[7000:7100] = np.nan
    table = thinned(np.column_stack([samples, times]), 1000)
    assert len(table) <= 1002
    assert np.nanmax(table[:, 0]) == 9.0
    assert table[[0, -1], 1].tolist() == [0.0, 19999.0]
    assert np.all(np.diff(table[:, 1]) > 0.0)
    gap = table[np.isnan(table[:, 0]), 1]
    assert (7000 - 40 < gap[0] <= 7000) & (7099 <= gap[-1] < 7100 + 40)
    assert thinned(table, len(table)) is table


def test_contact_comes_from_the_plan_or_else_from_the_forces(log):
    from_plan = WalkRecord(log, JOINTS)
    unknown = ("walking::is_double_support", "stance_foot::is_left")
    from_forces = WalkRecord(walk_log(6.0, without=unknown), JOINTS)
    for side in Side:
        np.testing.assert_array_equal(from_plan.in_contact(side), from_forces.in_contact(side))
    assert from_forces.in_double_support() is None


def test_sole_and_limits_come_from_the_result(run):
    record = WalkRecord.read(run)
    assert record.sole.x == (-0.0535, 0.1065)
    assert record.joint_limits[0].shape == (len(JOINTS),)
    run.write_result({"sole": {"x": [1.0]}, "joint_limits": {"lower": [0.0]}})
    record = WalkRecord.read(run)
    assert record.joint_limits is None
    assert record.sole.x[0] < 0.0 < record.sole.x[1]


def test_each_panel_has_a_joint_of_both_legs_with_its_limits(log):
    panels = leg_torque_panels(WalkRecord(log, JOINTS, walk_result()))
    assert [panel.title for panel in panels] == [f"{joint} [N·m], limit ±5" for joint in LEG]
    left, right = (curve.values for curve in panels[0].curves)
    np.testing.assert_array_equal(left, log["joints_state::torques::command"][:, JOINTS.index("l_hip_pitch")])
    np.testing.assert_array_equal(right, log["joints_state::torques::command"][:, JOINTS.index("r_hip_pitch")])
    assert panels[0].levels == (-5.0, 5.0)


def test_a_limit_that_is_far_away_stands_in_the_title_alone(log):
    panels = leg_torque_panels(WalkRecord(log, JOINTS, walk_result() | {"torque_limits": [50.0] * len(JOINTS)}))
    assert panels[0].levels == ()
    assert "limit ±50" in panels[0].title


def test_deflections_are_drawn_estimated_and_true_where_the_controller_knows_of_them():
    times, names = 0.01 * np.arange(50), ("l_roll", "l_pitch", "r_roll", "r_pitch")
    true = 1e-3 * np.outer(np.sin(times), [1.0, 2.0, 3.0, 4.0])
    signals = {"simulation::flexible_joints::positions": true, "flexible_joints::positions::estimated": true[:, 2:]}
    log = SignalLog.from_arrays(times, signals)
    log.describe("simulation::flexible_joints::positions", names, "rad")
    log.describe("flexible_joints::positions::estimated", names[2:], "rad")
    panels = deflection_panels(WalkRecord(log, JOINTS))
    assert [panel.title for panel in panels] == [*(f"{name} [deg]" for name in names), "estimated less true [deg]"]
    assert [[curve.name for curve in panel.curves] for panel in panels] == [
        ["true"],
        ["true"],
        ["estimated", "true"],
        ["estimated", "true"],
        ["r_roll", "r_pitch"],
    ]
    assert [curve.values.max() for curve in panels[4].curves] == [0.0, 0.0]
    assert panels[3].curves[0].values.max() == pytest.approx(np.degrees(4e-3 * np.sin(0.49)))


def test_the_simulated_push_is_drawn_beside_its_estimate():
    times = 0.01 * np.arange(50)
    force = np.outer((times >= 0.2) & (times < 0.3), [0.0, -40.0, 0.0])
    signals = {"external_wrench::force": 0.9 * force, "external_wrench::torque": 0.1 * force}
    truth = {f"simulation::{name}": samples / 0.9 for name, samples in signals.items()}
    panel = external_wrench_panels(WalkRecord(SignalLog.from_arrays(times, signals | truth), JOINTS))[0]
    lines = {curve.name: curve.values for curve in panel.curves}
    assert lines["y estimated"].min() == -36.0
    assert lines["true"].min() == -40.0
    assert len(panel.curves) == 4  # three estimates, the true force along y
    assert len(external_wrench_panels(WalkRecord(SignalLog.from_arrays(times, signals), JOINTS))[0].curves) == 3


def test_pushes_and_the_first_sign_of_a_fall_are_marked_in_each_panel(log, tmp_path):
    marks = {"push_times_s": [[2.0, 2.1], [4.0, 99.0], [60.0, 60.1]], "diagnosis": {"first_sign_s": 2.25}}
    end, record = log.times[-1], WalkRecord(log, JOINTS, walk_result() | marks)
    figure = draw_plot("Zero moment point", record)
    for axis in figure.axes:
        spans = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
        assert [(span.get_x(), span.get_width()) for span in spans] == [(2.0, pytest.approx(0.1)), (4.0, end - 4.0)]
        assert axis.lines[-1].get_xdata() == [2.25, 2.25]
    assert {"push", "first sign"} < {text.get_text() for text in figure.legends[0].get_texts()}
    text = write_report(new_run(tmp_path, log, {}), record).read_text()
    run = drawn_data(text)[0]["runs"][0]
    assert (run["pushes"], run["sign"]) == ([[2.0, 2.1], [4.0, end]], 2.25)
    assert not draw_plot("Zero moment point", WalkRecord(log, JOINTS, walk_result())).axes[0].patches


def test_matplotlib_draws_the_bars_of_the_joints():
    record = WalkRecord(bending_log(4.0), JOINTS, walk_result())
    figure, numbers = draw_plot("Joints", record), joint_figures(record)
    assert [axis.get_title(loc="left") for axis in figure.axes] == [each.title for each in numbers]
    for axis, each in zip(figure.axes, numbers, strict=True):
        np.testing.assert_array_equal([bar.get_width() for bar in axis.containers[0]], each.values)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(JOINTS)


@pytest.mark.parametrize("title", TITLES[:-1])
def test_matplotlib_draws_every_curve_of_a_plot_with_its_unit(title):
    record = WalkRecord(bending_log(4.0), JOINTS, walk_result())
    figure = draw_plot(title, record)
    panels = next(plot for plot in (FROM_ABOVE, *PLOTS) if plot.title == title).panels(record)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ([panel.title for panel in panels] or ["y [m]"])
    for axis, panel in zip(figure.axes, panels, strict=False):
        drawn = [line.get_ydata() for line in axis.lines][: len(panel.curves)]
        np.testing.assert_array_equal(drawn, [curve.values for curve in panel.curves])


def test_the_extreme_values_that_the_seed_drew_are_shown_the_farthest_first():
    fractions = {"left hip": 0.2, "right hip": -0.97, "left knee": 0.5}
    values = {"left hip": 1.1, "right hip": 0.51, "left knee": 1.4}
    drawn = [{"effect": "friction factor", "unit": "-", "values": values, "fractions": fractions}]
    shown = drawn_values({"drawn_values": drawn})
    assert shown.index("friction factor, right hip") < shown.index("left knee") < shown.index("left hip")
    assert "<td>0.51 </td><td>-97%</td>" in shown
    assert drawn_values({}) == ""
