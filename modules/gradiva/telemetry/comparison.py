"""Write a page that shows runs beside each other: settings that differ, figures, plots over each other, films."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from gradiva.common import ConfigError, Side
from gradiva.telemetry.key_figures import KEY_FIGURES, TRACKING_FIGURES, KeyFigure, unusual_figures
from gradiva.telemetry.page_plots import PlotSheet, RunSeries, legend
from gradiva.telemetry.plot_style import COM, DCM, FOOT, WARNING
from gradiva.telemetry.plots import FROM_ABOVE, PLOTS, Plot
from gradiva.telemetry.report import outcome_badge, page, plot_card
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.walk_panels import FromAbove, Panel
from gradiva.telemetry.walk_record import WalkRecord

_COLOURS = (FOOT[Side.LEFT], FOOT[Side.RIGHT], COM, DCM, WARNING, "#8a6a3b")
_STANDING = ("walked", "walked badly")  # outcomes between whose figures there is a better one
_NAMED_BY = 2  # settings that differ, of which more make no name
_FILMS = 2_200_000  # bytes of all films, so that a page of three runs stays below 5 MB


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    """A run of a comparison.

    Attributes:
        letter: By which the page names it.
        folder: With its files.
        record: Its log and result.
        settings: Of its configuration, by their dotted names.
    """

    letter: str
    folder: RunFolder
    record: WalkRecord
    settings: dict[str, Any]


def write_comparison(folders: Sequence[RunFolder], path: Path) -> Path:
    """Write the page; return its path.

    Raises:
        ConfigError: There are less than two runs or more than six, one has no log or one of less than two ticks, or a
            file of one cannot be read.
    """
    if not 2 <= len(folders) <= len(_COLOURS):
        raise ConfigError(f"got {len(folders)} runs: a comparison takes 2 to {len(_COLOURS)}")
    runs = [_read(letter, folder) for letter, folder in zip(ascii_uppercase, folders, strict=False)]
    differing = differing_settings(runs)
    names = [_name(run, differing) for run in runs]
    sheet = PlotSheet(
        [RunSeries(run.record, name, colour) for run, name, colour in zip(runs, names, _COLOURS, strict=False)]
    )
    parts = [
        _heading(runs, names),
        "<h2>Figures</h2>",
        figure_table(runs),
        "<h2>Settings that differ</h2>",
        settings_table(runs, differing),
        _films(runs),
        "<h2>Plots</h2>",
        _plots(runs, sheet),
    ]
    path.write_text(page("Comparison", "\n".join(parts), sheet), encoding="utf-8")
    return path


def _read(letter: str, folder: RunFolder) -> ComparedRun:
    record = WalkRecord.read(folder)
    if len(record.log) < 2:
        raise ConfigError(f"{folder.log_path} has less than two ticks: there is nothing to compare")
    return ComparedRun(letter, folder, record, _flat(folder.read_config()))


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the values of tables by their dotted names; what repeats the walk is left out."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        values |= _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {above + key: value}
    values.pop("run.arguments", None)
    return values


def differing_settings(runs: Sequence[ComparedRun]) -> list[str]:
    """Return the names of settings in which runs differ, in the order of their configuration files."""
    names = {name: None for run in runs for name in run.settings}
    return [name for name in names if any(run.settings.get(name) != runs[0].settings.get(name) for run in runs)]


def _name(run: ComparedRun, differing: Sequence[str]) -> str:
    """Return how legends name a run: by what is different in it, where that is short, else by its folder."""
    few = 0 < len(differing) <= _NAMED_BY
    text = ", ".join(f"{name.rsplit('.', 1)[-1]} {_value(run, name)}" for name in differing)
    return f"{run.letter}: {text if few else run.folder.name}"


def _value(run: ComparedRun, name: str) -> str:
    """Return a setting as text: of tables in a list, as of pushes, the values alone."""
    value = run.settings.get(name, "–")
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        return "; ".join(" ".join(str(part) for part in each.values()) for each in value)
    return str(value)


def _heading(runs: Sequence[ComparedRun], names: Sequence[str]) -> str:
    rows = "".join(
        f"<p><b>{run.letter}</b> {outcome_badge(run.record.result)} "
        f"{escape(str(run.record.result.get('reason') or ''))} <small>{escape(run.folder.name)}</small>"
        f"{_unusual(run.record.result)}</p>"
        for run in runs
    )
    switches = legend({name: (colour, False) for name, colour in zip(names, _COLOURS, strict=False)})
    different = "".join(
        f'<p class="reason">{escape(text)}</p>' for text in (_different(runs, "robot"), _different_draws(runs)) if text
    )
    return (
        f'<header><div class="line"><h1>{len(runs)} runs</h1></div>{different}</header>'
        f'<div class="card runs">{rows}</div><div class="card switches">{switches}</div>'
    )


def _different(runs: Sequence[ComparedRun], what: str) -> str:
    """Return in words which run has which value of a key of the results; empty where all have the same."""
    values = [run.record.result.get(what, "unknown") for run in runs]
    if len(set(values)) < 2:
        return ""
    return f"Different {what}s: {', '.join(f'{run.letter} {each}' for run, each in zip(runs, values, strict=True))}."


def _different_draws(runs: Sequence[ComparedRun]) -> str:
    """Return which run has which seed, where seeds differ and draw anything."""
    seeds = _different(runs, "seed")
    draws = any(run.record.result.get("plant") != "ideal" for run in runs)
    return f"{seeds} A part of what differs is what they draw, not the settings." if seeds and draws else ""


def _unusual(result: Mapping[str, Any]) -> str:
    return f"<br><small>{escape(text)}</small>" if (text := unusual_figures(result)) else ""


def figure_table(runs: Sequence[ComparedRun]) -> str:
    """Return the figures of all runs; the best of those that stand is marked where there is a better and a worse."""
    results = [run.record.result for run in runs]
    rows = [
        (f"{figure.label} {f'[{figure.unit}]' if figure.unit else ''}", figure_cells(figure, results))
        for figure in (*TRACKING_FIGURES, *KEY_FIGURES)
        if any(figure.is_shown(result) for result in results)
    ]
    return _table(
        [run.letter for run in runs],
        rows,
        "✓ the best of those that stand and are nowhere worse than usual, if there are any; amber: worse than usual",
    )


def figure_cells(figure: KeyFigure, results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the cells of a row: rounded figures, which are compared as they are read.

    Values of which each is enough within its healthy bound have no best: of margins, less feedback makes larger ones.
    Nor is a run the best in one figure that is worse than usual in another: too low a gain looks good everywhere else.
    """
    texts = [figure.number(result) if figure.is_shown(result) else "–" for result in results]
    upright = [(text, each) for text, each in zip(texts, results, strict=True) if each.get("outcome") in _STANDING]
    shown = [(text, each) for text, each in upright if text != "–"]
    candidates = [(text, each) for text, each in shown if not unusual_figures(each)] or shown
    has_best = figure.better and not figure.is_enough and len({text for text, _ in shown}) > 1
    best = max(candidates, key=lambda pair: figure.better * abs(figure.value(pair[1])))[0] if has_best else None
    return [
        _cell(
            f"✓ {text}" if text == best else text, "unusual" if figure.is_unusual(result) else "best" * (text == best)
        )
        for text, result in zip(texts, results, strict=True)
    ]


def _cell(text: str, mark: str) -> str:
    return f'<td class="{mark}">{text}</td>' if mark else f"<td>{text}</td>"


def settings_table(runs: Sequence[ComparedRun], differing: Sequence[str]) -> str:
    """Return the values of settings that differ; a long table opens at a click."""
    if not differing:
        return '<p class="left-out">None.</p>'
    rows = [(name, [f"<td>{escape(_value(run, name))}</td>" for run in runs]) for name in differing]
    table = _table([run.letter for run in runs], rows)
    short = len(differing) <= 20
    return table if short else f"<details><summary>{len(differing)} settings</summary>{table}</details>"


def _table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], corner: str = "") -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr><th>{escape(name)}</th>{''.join(cells)}</tr>" for name, cells in rows)
    return (
        f'<div class="card scroll"><table><thead><tr><th>{corner}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _films(runs: Sequence[ComparedRun]) -> str:
    """Return the films that lie in the folders, side by side; nothing where there is none."""
    films = {run.letter: film for run in runs for film in sorted(run.folder.path.glob("*.mp4"))[:1]}
    if not films:
        return ""
    if (size := sum(film.stat().st_size for film in films.values())) > _FILMS:
        return f'<h2>Films</h2><p class="left-out">They take {size / 1e6:.1f} MB and stay in the runs\' folders.</p>'
    shown = "".join(
        f'<figure class="card"><figcaption><h3>{letter}</h3></figcaption><video controls muted playsinline '
        f'src="data:video/mp4;base64,{base64.b64encode(film.read_bytes()).decode()}"></video></figure>'
        for letter, film in films.items()
    )
    return f'<h2>Films</h2><p><button class="play">Play all</button></p><div class="films">{shown}</div>'


def _plots(runs: Sequence[ComparedRun], sheet: PlotSheet) -> str:
    """Return the plots that all runs have signals for, and why others are left out."""
    cards, left_out = [], []
    for plot in (FROM_ABOVE, *PLOTS):
        lacking = [run.letter for run in runs if plot.missing(run.record)]
        if not lacking:
            cards.append(_plot(plot, [run.record for run in runs], sheet))
        elif len(lacking) < len(runs):
            left_out.append(f"<p>“{escape(plot.title)}” is left out: not in the log of {', '.join(lacking)}.</p>")
    return f'<div class="columns">{"".join(cards)}<div class="wide left-out">{"".join(left_out)}</div></div>'


def _plot(plot: Plot, records: Sequence[WalkRecord], sheet: PlotSheet) -> str:
    if plot is FROM_ABOVE:
        content = sheet.from_above([FromAbove.of(record) for record in records])
        return plot_card(replace(plot, caption="Soles and the paths of CoM, DCM and ZMP."), content, is_wide=True)
    panels = [{panel.title: panel for one in plot.panels(record) for panel in separated(one)} for record in records]
    rows = [[of_run[title] for of_run in panels] for title in panels[0] if all(title in of_run for of_run in panels)]
    return plot_card(replace(plot, caption="Dashed what was desired or true."), sheet.over_time(rows)) if rows else ""


def separated(panel: Panel) -> list[Panel]:
    """Return a panel for each curve of a panel, with its reference: curves that share a panel have a run's colour."""
    curves = [curve for curve in panel.curves if not curve.is_reference and curve.name != "planned"]
    references = [curve for curve in panel.curves if curve.is_reference]
    own = [[one] for one in references] if len(references) == len(curves) else [[]] * len(curves)
    if len(curves) < 2:
        own = [references] * len(curves)
    return [
        replace(
            panel,
            title=panel.title if len(curves) < 2 else f"{panel.title}, {curve.name}",
            curves=[curve, *with_it],
            extent=None,
            shade=None,
            levels=(),
        )
        for curve, with_it in zip(curves, own, strict=True)
    ]
