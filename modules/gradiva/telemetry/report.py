"""Write the page of a run: its key figures, tables, safety events and plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.telemetry.key_figures import (
    BAD_OUTCOMES,
    ERRORS,
    KEY_FIGURES,
    SHIFT_FIGURES,
    TRACKING_FIGURES,
    KeyFigure,
    further_steps,
    number,
    unusual_figures,
)
from gradiva.telemetry.page_plots import PlotSheet, RunSeries
from gradiva.telemetry.plots import FROM_ABOVE, JOINTS, PLOTS, Plot
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.walk_panels import TIGHT, FromAbove, JointFigures, joint_figures
from gradiva.telemetry.walk_record import WalkRecord

_GOOD = ("walked",)
_SETTINGS = ("control", "model", "plant", "ground", "seed")
_PAGE = "All figures are defined on the page 'Simulated walk' of the documentation."
_MOST_DRAWN = 12  # rows of the table of drawn values
_PHASES = ("double_support", "single_support", "shift")
_COMMANDS = {"command_rad": ("mrad", 1e3, 2), "command_radps": ("mrad/s", 1e3, 1), "command_nm": ("N·m", 1.0, 2)}
_LAYERS = ("estimation", "model_control", "whole_body", "total")


def write_report(run: RunFolder, record: WalkRecord | None = None) -> Path:
    """Write ``report.html``: outcome, key figures, plots, configuration; one file that loads nothing over a network.

    Plots whose signals are not in the log are left out, and the page says so, unless most runs have none.

    Args:
        run: The folder.
        record: Of the run; read from the folder where it is not given.

    Raises:
        ConfigError: The run has no log, or a file of it cannot be read.
    """
    record = record or WalkRecord.read(run)
    sheet = PlotSheet([RunSeries(record)]) if len(record.log) > 1 else None
    parts = [
        heading(record.result, run.name),
        tiles(record.result),
        usual_note(record.result),
        tables(record.result),
        events(record.result),
        "<h2>Plots</h2>",
        _plots(record, sheet),
        "<h2>Details</h2>",
        folded("Configuration", run.config_path.read_text(encoding="utf-8")),
        folded("Result", json.dumps(record.result, indent=2)),
    ]
    run.report_path.write_text(page(run.name, "\n".join(parts), sheet), encoding="utf-8")
    return run.report_path


def page(title: str, body: str, sheet: PlotSheet | None) -> str:
    """Return a page of its own, with the scripts of its plots where there are some."""
    style = files("gradiva.telemetry").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body><main>\n{body}\n</main>{sheet.scripts() if sheet else ''}</body>\n</html>\n"
    )


def heading(result: Mapping[str, Any], run_name: str) -> str:
    """Return the robot, the outcome with its reason and advice, warnings, the command and what was run."""
    settings = [f"{key} {result[key]}" for key in _SETTINGS if result.get(key) is not None]
    reason, robot = result.get("reason") or "", result.get("title") or result.get("robot") or "Walk"
    command = f"gradiva walk {result['command']}" if result.get("command") else ""
    advice = (result.get("diagnosis") or {}).get("advice")
    at_limits, oscillation = result.get("position_limits"), (result.get("chatter") or {}).get("text")
    pushes = " · ".join(str(push) for push in result.get("pushes") or [])
    near, floor = result.get("near_bounds"), result.get("floor_note")
    notes = near and f"near a bound: it {near}", further_steps(result), unusual_figures(result)
    return (
        f'<header><div class="line"><h1>{escape(str(robot))}</h1>'
        f"{outcome_badge(result)}</div>"
        f'<p class="reason">{escape(str(reason))}</p>'
        + "".join(
            f'<p class="run">{escape(line)}</p>'
            for line in (advice and f"next: {advice}", floor, at_limits, oscillation, *notes, command, pushes)
            if line
        )
        + f'<p class="run">{escape(" · ".join([*settings, run_name]))}</p></header>'
    )


def outcome_badge(result: Mapping[str, Any]) -> str:
    """Return the outcome in the colour of a good, a bad or another one."""
    outcome = str(result.get("outcome", "no result"))
    kind = "good" if outcome in _GOOD else "bad" if outcome in BAD_OUTCOMES else "open"
    return f'<span class="outcome {kind}">{escape(outcome)}</span>'


def tiles(result: Mapping[str, Any]) -> str:
    """Return the key figures; those that the result lacks are left out."""
    cells = [
        f'<div{_definition(figure)} class="tile{_mark(figure, result)}"><div class="label">{figure.name(result)}</div>'
        f'<div class="value">{figure.number(result)} <span class="unit">{figure.unit}</span></div>'
        f"{_usual(figure, result)}{_healthy(figure, result)}{_case(figure, result)}{_commanded(figure, result)}</div>"
        for figure in KEY_FIGURES
        if figure.is_shown(result)
    ]
    return f'<div class="tiles">{"".join(cells)}</div>' if cells else ""


def usual_note(result: Mapping[str, Any]) -> str:
    """Return of which known good walks the usual figures are, or why there are none; nothing for older results."""
    if not (usual := result.get("usual")):
        return ""
    amber = "amber is worse by more than half their spread and by a tenth (rms of errors) or half (others)."
    known = f"usual: least and greatest of {usual['of']}; {amber}"
    text = known if usual["figures"] else f"usual figures: {usual['of']}."
    text += f" {_PAGE}"
    return f'<p class="note">{escape(text)}</p>'


def _mark(figure: KeyFigure, result: Mapping[str, Any]) -> str:
    """Return the class of a value: nothing if it is usual, else beyond its healthy bound, else unusual or nothing."""
    if figure.usual(result) and not figure.is_unusual(result):
        return ""
    return " beyond" if figure.is_beyond(result) else " unusual" * figure.is_unusual(result)


def _usual(figure: KeyFigure, result: Mapping[str, Any]) -> str:
    return f'<div class="label">usual {shown}</div>' if (shown := figure.usual_range(result)) else ""


def _healthy(figure: KeyFigure, result: Mapping[str, Any]) -> str:
    return f'<div class="label">{shown}</div>' if (shown := figure.healthy_range(result)) else ""


def _case(figure: KeyFigure, result: Mapping[str, Any]) -> str:
    return f'<div class="label">in {escape(str(case))}</div>' if (case := figure.case_in(result)) else ""


def _commanded(figure: KeyFigure, result: Mapping[str, Any]) -> str:
    """Return the duration or the end of the command, below the figure that is set beside it, and its remark."""
    duration, end = result.get("commanded_duration_s"), result.get("commanded_end_m")
    text = f"command: {duration:g} s, ramps included" if figure.key == "duration_s" and duration else ""
    if figure.key == "steps" and result.get("planned_steps") is not None:
        text = f"planned: {result['planned_steps']}"
    if figure.key == "end_error_m" and end:
        text = f"commanded end: ({number(end[0], 1.0, 2)}, {number(end[1], 1.0, 2)}) m"
    return "".join(f'<div class="label">{line}</div>' for line in (text, figure.remark(result)) if line)


def _definition(figure: KeyFigure) -> str:
    return f' title="{escape(figure.definition)}"' if figure.definition else ""


def tables(result: Mapping[str, Any]) -> str:
    """Return the tracking errors, the tick times, what oscillates and what was drawn side by side."""
    errors = [(label, _errors(result, key)) for key, label in ERRORS if isinstance(result.get(key), Mapping)]
    ticks = result.get("tick_us") or {}
    times = [
        (layer.replace("_", " "), [number(ticks[layer].get(column), 1.0, 0) for column in ("median", "p99", "max")])
        for layer in _LAYERS
        if isinstance(ticks.get(layer), Mapping)
    ]
    solver = result.get("mpc") or {}
    solved = [number(solver.get(f"solve_{column}_ms"), 1.0, 2) for column in ("median", "p99", "max")]
    chatter = result.get("chatter") or {}
    oscillating = [(phase.replace("_", " "), _chatter(chatter[phase])) for phase in _PHASES if chatter.get(phase)]
    if chatter.get("shift"):
        oscillating[-1][1][:2] = [_marked(figure, result) for figure in SHIFT_FIGURES]
    if "lasting_foot_force" in chatter and chatter.get("shift"):  # not known where the record ends within the shift
        oscillating.append((_quietest(chatter), [number(chatter["lasting_foot_force"], 1e2, 2), "–", "–"]))
    if usual := _usual_shift(result):
        oscillating.append(("usual in shift", [*usual, "–"]))
    if healthy := chatter.get("healthy_shift"):
        oscillating.append(("healthy in shift", _chatter(healthy)))
    if noise := chatter.get("noise"):
        oscillating.append(("noise alone", _chatter(noise)))
    shown = [
        _table("tracking error [mm]", _error_columns(result), errors),
        _table("tick time [µs]", ["median", "p99", "max"], times),
        _table("MPC [ms]", ["median", "p99", "max"], [("solver", solved)] if solver else []),
        _table("above 25 Hz, rms", ["foot force [% of weight]", "ZMP [mm]", "command"], oscillating),
        drawn_values(result),
    ]
    return f'<div class="columns" style="margin-top:18px">{"".join(shown)}</div>' if errors or times else ""


def _errors(result: Mapping[str, Any], key: str) -> list[str]:
    """Return the cells of a row: rms, max, what is usual of both, and up to where the latter is healthy."""
    rms, most = (next(one for one in TRACKING_FIGURES if one.key == f"{key}.{what}") for what in ("rms", "max"))
    cells = [cell for one in (rms, most) for cell in (_marked(one, result), one.usual_range(result) or "–")]
    cells = cells if "usual" in _error_columns(result) else cells[::2]
    return [*cells, number(most.bound(result), 1e3, 0)]


def _error_columns(result: Mapping[str, Any]) -> list[str]:
    """Return the heads of the table of tracking errors; usual ones stand in it where some are known."""
    usual = ["usual"] * bool((result.get("usual") or {}).get("figures"))
    return ["rms", *usual, "max", *usual, "healthy max"]


def _marked(figure: KeyFigure, result: Mapping[str, Any]) -> str:
    mark = _mark(figure, result).strip()
    return f'<b class="{mark}">{figure.number(result)}</b>' if mark else figure.number(result)


def _usual_shift(result: Mapping[str, Any]) -> list[str]:
    """Return what is usual of foot force and ZMP in the last shift; empty where no walks are known."""
    found = [one.usual_range(result) for one in SHIFT_FIGURES]
    return found if all(found) else []


def _quietest(chatter: Mapping[str, Any]) -> str:
    """Return the label of the quietest quarter, which says so where hits bring the shift beyond its band."""
    lasting, healthy = chatter["lasting_foot_force"], (chatter.get("healthy_shift") or {}).get("foot_force", 0.0)
    hits = lasting is not None and lasting <= healthy < chatter["shift"]["foot_force"]
    return "quietest quarter of shift" + ": the rest are hits, no oscillation" * hits


def _chatter(figures: Mapping[str, Any]) -> list[str]:
    """Return the cells of a row: foot force, ZMP and command with its unit."""
    command = [
        f"{number(figures[key], factor, digits)} {unit}"
        for key, (unit, factor, digits) in _COMMANDS.items()
        if key in figures
    ]
    return [number(figures["foot_force"], 1e2, 2), number(figures["zmp_m"], 1e3, 2), *(command or ["–"])]


def _table(title: str, columns: list[str], rows: list[tuple[str, list[str]]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(label)}</th>{''.join(f'<td>{value}</td>' for value in values)}</tr>" for label, values in rows
    )
    return (
        f'<div class="card"><table><thead><tr><th>{escape(title)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def events(result: Mapping[str, Any]) -> str:
    """Return the safety events and bridged readings as a list, nothing if there were none."""
    bridged = result.get("bridged_readings") or {}
    found = [_event(event) for event in result.get("safety_events") or []]
    found += [f"{name}: {count} readings that were no numbers" for name, count in bridged.items()]
    items = "".join(f"<li>{escape(line)}</li>" for line in found)
    return f'<h2>Safety events</h2><div class="card"><ul>{items}</ul></div>' if found else ""


def drawn_values(result: Mapping[str, Any]) -> str:
    """Return a table of the constants of the plant that lie farthest out in the range that the seed chose them from."""
    drawn = [
        (abs(fraction), f"{each['effect']}, {label}", each["values"][label], each["unit"], fraction)
        for each in result.get("drawn_values") or []
        for label, fraction in each["fractions"].items()
    ]
    farthest = sorted(drawn, key=lambda row: -row[0])[:_MOST_DRAWN]
    rows = [
        (name, [f"{value:.4g} {escape(unit).strip('-')}", f"{fraction:+.0%}"])
        for _, name, value, unit, fraction in farthest
    ]
    return _table(f"drawn values: the {len(rows)} extreme ones of {len(drawn)}", ["value", "of the range"], rows)


def _event(event: Any) -> str:
    if not isinstance(event, Mapping):
        return str(event)
    return f"{event['time_s']:.2f} s, {event['kind']}: {event['text']} ({event['response']})"


def folded(title: str, text: str) -> str:
    """Return a text that opens at a click."""
    return f'<details class="card"><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>'


def _plots(record: WalkRecord, sheet: PlotSheet | None) -> str:
    """Return the plots, and which of them are left out because the log lacks their signals."""
    every = (FROM_ABOVE, *PLOTS, JOINTS)
    drawn = {plot: _content(plot, record, sheet) for plot in every if sheet is not None and not plot.missing(record)}
    figures = [plot_card(plot, content, is_wide=plot in (FROM_ABOVE, JOINTS)) for plot, content in drawn.items()]
    left_out = [_reason_left_out(plot, record) for plot in every if plot not in drawn and not plot.is_special]
    left_out_text = f'<div class="wide left-out">{"".join(left_out)}</div>' if left_out else ""
    return f'<div class="columns">{"".join(figures)}{left_out_text}</div>'


def _content(plot: Plot, record: WalkRecord, sheet: PlotSheet) -> str:
    if plot is FROM_ABOVE:
        return sheet.from_above([FromAbove.of(record)])
    if plot is JOINTS:
        return joint_table(joint_figures(record), record.joints)
    return sheet.over_time([[panel] for panel in plot.panels(record)])


def plot_card(plot: Plot, content: str, is_wide: bool = False) -> str:
    """Return a plot with its heading."""
    return (
        f'<figure class="card{" wide" * is_wide}"><figcaption><h3>{escape(plot.title)}</h3>'
        f"<p>{escape(plot.caption)}</p></figcaption>{content}</figure>\n"
    )


def joint_table(figures: Sequence[JointFigures], joints: Sequence[str]) -> str:
    """Return a row for each joint, with its numbers as bars."""
    count = len(figures[0].values)
    names = joints if len(joints) == count else [f"joint {index}" for index in range(count)]
    head = "".join(f"<th>{escape(each.title)}{_beyond(each)}</th>" for each in figures)
    rows = [
        f"<tr><th>{escape(name)}</th>{''.join(_bar(each, row) for each in figures)}</tr>"
        for row, name in enumerate(names)
    ]
    return (
        f'<div class="scroll"><table class="bars"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _bar(figures: JointFigures, row: int) -> str:
    value, most = float(figures.values[row]), max(float(np.nanmax(figures.values, initial=0.0)), 1e-6)
    tight = " tight" * bool(figures.tight is not None and value < figures.tight[row])
    length = 100.0 * max(value, 0.0) / most
    dark = "" if figures.rms is None else f'<i class="rms" style="width:{100.0 * figures.rms[row] / most:.1f}%"></i>'
    text = number(value, 1.0, 2 if abs(value) < 10.0 else 0)
    return f'<td class="bar{tight}"><i style="width:{length:.1f}%"></i>{dark}<span>{text}</span></td>'


def _beyond(figures: JointFigures) -> str:
    """Return the explanation of red bars where there are some."""
    if figures.tight is None or not np.any(figures.values < figures.tight):
        return ""
    beyond = int(np.sum(figures.values < 0.0))
    note = f"red: {TIGHT}" + f", {beyond} beyond the limit" * bool(beyond)
    return f' <small class="tight">{note}</small>'


def _reason_left_out(plot: Plot, record: WalkRecord) -> str:
    missing = plot.missing(record)
    why = f"the log has no {', '.join(missing)}" if missing else "the log has less than two ticks"
    return f"<p>“{escape(plot.title)}” is left out: {escape(why)}.</p>"
