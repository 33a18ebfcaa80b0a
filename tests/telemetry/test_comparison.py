"""The page that shows runs beside each other."""

import re

import numpy as np
import pytest
from synthetic_walk import JOINTS, walk_log, walk_result
from test_report import drawn_data

from gradiva.common import ConfigError
from gradiva.telemetry import RunFolder, SignalLog, WalkRecord, write_comparison
from gradiva.telemetry.comparison import figure_cells, separated
from gradiva.telemetry.key_figures import KEY_FIGURES
from gradiva.telemetry.page_plots import thinned
from gradiva.telemetry.walk_panels import attitude_panels, contact_panels, zmp_panels

SHARED = {"walking": {"control": "position"}, "dcm_controller": {"gain": 2.0}}


def new_run(folder, gain, log, **result):
    run = RunFolder.create(folder, "walk", SHARED | {"zmp_com_controller": {"zmp": gain}})
    run.write_result(walk_result() | result)
    run.write_log(log, JOINTS, "icub_v2_7")
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three runs that differ in one setting; the last one fell, in the end of a walk that was better before."""
    folder = tmp_path_factory.mktemp("runs")
    return [
        new_run(folder, 1.0, walk_log(25.0), goal_error_m=0.04),
        new_run(folder, 1.5, walk_log(25.0), goal_error_m=0.02),
        new_run(folder, 2.0, walk_log(12.0), goal_error_m=0.01, outcome="fell", reason="base <tilt>"),
    ]


@pytest.fixture(scope="module")
def page(runs):
    return write_comparison(runs, runs[0].path.parent / "comparison.html").read_text(encoding="utf-8")


def test_a_page_of_three_runs_is_below_5_megabytes_and_loads_nothing(page):
    assert len(page.encode()) < 5_000_000
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "<tilt>" not in page


def test_what_differs_is_shown_and_names_the_runs(page):
    assert "<th>zmp_com_controller.zmp</th><td>1.0</td><td>1.5</td><td>2.0</td>" in page
    assert "dcm_controller.gain" not in page
    for name in ("A: zmp 1.0", "B: zmp 1.5", "C: zmp 2.0"):
        assert f'value="{name}">{name}</label>' in page


def test_seeds_that_differ_are_named_at_the_top_where_they_draw_anything(tmp_path):
    def heading(plant, *seeds):
        runs = [new_run(tmp_path, 1.0, walk_log(5.0), seed=seed, plant=plant) for seed in seeds]
        text = write_comparison(runs, tmp_path / "seeds.html").read_text(encoding="utf-8")
        return text[: text.index("<h2>Figures</h2>")]

    named = '<p class="reason">Different seeds: A 55800, B 55801. A part of what differs is what they draw, not the'
    assert named in heading("robot", 55800, 55801)
    assert "Different seeds" not in heading("robot", 55800, 55800)
    assert "Different seeds" not in heading("ideal", 55800, 55801)


def test_the_best_of_those_that_stand_is_marked(page):
    assert '<th>goal error [mm]</th><td>40</td><td class="best">✓ 20</td><td>10</td>' in page
    assert "<th>distance [m] </th>" not in page


def test_figures_are_compared_as_they_are_read():
    by_key = {figure.key: figure for figure in KEY_FIGURES}
    stood = {"outcome": "walked"}
    slip = [stood | {"foot_slip_m": value} for value in (0.00101, 0.00102, 0.003)]
    assert figure_cells(by_key["foot_slip_m"], slip) == [
        '<td class="best">✓ 1.0</td>',
        '<td class="best">✓ 1.0</td>',
        "<td>3.0</td>",
    ]
    assert figure_cells(by_key["foot_slip_m"], slip[:2]) == ["<td>1.0</td>", "<td>1.0</td>"]
    assert figure_cells(by_key["distance_m"], [stood | {"distance_m": d} for d in (1.0, 2.0)]) == [
        "<td>1.00</td>",
        "<td>2.00</td>",
    ]
    assert figure_cells(by_key["foot_slip_m"], [{}, slip[0]]) == ["<td>–</td>", "<td>1.0</td>"]


def test_smaller_gains_with_larger_margins_are_not_marked_as_better():
    runs = [
        {"outcome": "walked", "stability_margins": {"margins": dict.fromkeys(("gain_db", "phase_deg", "peak"), value)}}
        for value in (6.0, 8.0)
    ]
    figures = [figure for figure in KEY_FIGURES if figure.key.startswith("stability_margins.margins.")]
    assert [figure_cells(figure, runs) for figure in figures] == [
        ["<td>6.0</td>", "<td>8.0</td>"],
        ["<td>6</td>", "<td>8</td>"],
        ["<td>6.0</td>", "<td>8.0</td>"],
    ]


def test_every_run_has_its_curve_in_every_panel(page, runs):
    drawn, columns = drawn_data(page)
    panels = [panel for plot in drawn["plots"] for panel in plot.get("panels", ())]
    assert len(panels) > 25
    for panel in panels:
        assert {line["run"] for line in panel["lines"]} == {0, 1, 2}
        assert {line["name"] for line in panel["lines"]} == {"A: zmp 1.0", "B: zmp 1.5", "C: zmp 2.0"}
    assert len({line["colour"] for line in panels[0]["lines"]}) == 3
    last = [line for line in panels[0]["lines"] if line["run"] == 2 and not line["dashed"]]
    log = runs[2].read_log().log
    wanted = thinned(np.column_stack([log["dcm::position::measured"][:, 0], log.times]), drawn["runs"][2]["rows"])
    np.testing.assert_array_equal(columns[2][last[0]["column"]], wanted[:, 0].astype("<f4"))


def test_curves_that_share_a_panel_get_their_own():
    record = WalkRecord(walk_log(3.0), JOINTS)
    assert [one.title for panel in attitude_panels(record) for one in separated(panel)] == [
        "roll and pitch [deg], roll",
        "roll and pitch [deg], pitch",
        "yaw [deg]",
    ]
    left, right = separated(contact_panels(record)[0])
    assert [[curve.name for curve in one.curves] for one in (left, right)] == [["left", "true"], ["right", "true"]]
    x = separated(zmp_panels(record)[0])
    assert [[curve.name for curve in one.curves] for one in x] == [["measured", "commanded"]]


def test_different_robots_are_said_and_films_are_embedded(runs, tmp_path):
    other = new_run(tmp_path, 1.0, walk_log(4.0, without=("zmp::measured",)), robot="talos")
    (other.path / "film.mp4").write_bytes(b"film")
    text = write_comparison([runs[0], other], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Different robots: A icub_v2_7, B talos." in text
    assert 'src="data:video/mp4;base64,ZmlsbQ=="' in text
    assert "“Zero moment point” is left out: not in the log of B." in text
    (other.path / "film.mp4").write_bytes(bytes(2_300_000))
    assert "They take 2.3 MB" in write_comparison([runs[0], other], tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_run_without_log_and_one_run_alone_are_refused(runs, tmp_path):
    empty = new_run(tmp_path, 1.0, SignalLog.from_arrays(np.zeros(1), {"zmp::measured": np.zeros((1, 2))}))
    with pytest.raises(ConfigError, match="less than two ticks"):
        write_comparison([runs[0], empty], tmp_path / "page.html")
    empty.log_path.unlink()
    with pytest.raises(ConfigError, match="there is no log"):
        write_comparison([runs[0], empty], tmp_path / "page.html")
    with pytest.raises(ConfigError, match="takes 2 to 6"):
        write_comparison(runs[:1], tmp_path / "page.html")
