"""Makes tables of results/*.json, for the directive ``{result}`` and for the page of published experiments.

``gradiva experiment NAME --publish`` writes such a file: rows with ``paper``, ``value`` and ``outcome``, and command,
date, commit and machine. ``{result} runs NAME`` shows all runs of an experiment in one table. ``gradiva campaign
table … --publish`` writes such files as well, all of the name `CAMPAIGN`.
``peers.json`` is of ``gradiva bench --peers --json``.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from gradiva.simulated_walk import BAND_FIGURES
from gradiva.telemetry import KeyFigure
from gradiva_experiments import as_text, cell
from gradiva_experiments.experiment import all_experiments, is_fulfilled
from gradiva_experiments.shipped.swing_lag import ALL
from reference_pages.markdown import table

RESULTS = Path(__file__).parents[2] / "results"
PUBLISHED = "published"
"""Argument of the directive that stands for all published runs."""
UNPUBLISHED = "unpublished"
"""Argument of the directive that stands for the experiments that are not published."""
NOT_REACHED = "not_reached"
"""Argument of the directive that stands for what published runs did not reach."""
RUNS = "runs"
"""Argument of the directive, before the name of an experiment, that stands for its published runs in one table."""
PEERS = "peers"
"""Argument of the directive that stands for the last ``gradiva bench --peers``, of which ``PEERS_FILE`` is."""
PEERS_FILE = RESULTS / "peers.json"
CAMPAIGN = "campaign"
"""Name of the published tables of campaigns, beside those of the experiments."""
BANDS = "bands"
"""Argument of the directive that stands for the published usual figures of robots."""


_UNITS = {"mps": "m/s", "m": "m", "mm": "mm", "s": "s", "us": "µs", "deg": "°", "degps": "°/s", "rad": "rad", "n": "N"}
"""Last parts of the names of columns."""


def published_paths() -> list[Path]:
    """Return the files of published runs, by name."""
    return sorted(path for path in RESULTS.glob("*.json") if path != PEERS_FILE)


def read(path: Path) -> dict[str, Any]:
    """Return a file of results."""
    return json.loads(path.read_text(encoding="utf-8"))


def peers_text() -> str:
    """Return the table of ``gradiva bench --peers`` as it was written to ``results/peers.json``, and its origin."""
    found = read(PEERS_FILE)
    numbers = {"median": ".0f", "p99": ".0f", "violation": ".0e", "distance": ".0e"}
    head = ["problem", "solver", "median [µs]", "p99 [µs]", "violation", "distance to the optimum", "source"]
    rows = [
        [row["problem"], row["solver"], *(_number(row[name], form) for name, form in numbers.items()), row["source"]]
        for row in found["results"]
    ]
    return f"{table(head, rows)}\n{_origin(found)}\n"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def published_text() -> str:
    """Return a section for each published run."""
    return "\n".join(line for path in published_paths() for line in _section(read(path)))


def unpublished_text() -> str:
    """Return which experiments nothing is published of, and the command that publishes each."""
    known = {read(path)["name"] for path in published_paths()} - {CAMPAIGN}
    names = [name for name in sorted(all_experiments()) if name not in known]
    missing = "".join(f"- {_command_of(name)}\n" for name in names)
    return f"Published are {len(known)} of {len(all_experiments())} experiments. Not published:\n\n{missing}"


def _command_of(name: str) -> str:
    """Return the command that publishes an experiment or a campaign, and what it shows."""
    if name == CAMPAIGN:
        return "`gradiva campaign FILE.toml`, `gradiva campaign table FOLDER --publish`"
    return f"`gradiva experiment {name} --publish`: {all_experiments()[name].description}"


def not_reached_text() -> str:
    """Return the published runs with rows that are not as asked: how many, and why where they are few."""
    runs = [read(path) for path in published_paths()]
    missed = [run for run in runs if not all(map(is_fulfilled, run["rows"]))]
    listed = "".join(f"- `{run['command']}`: {_count(run['rows'])}\n{_reasons(run['rows'])}" for run in missed)
    return f"{len(runs) - len(missed)} of {len(runs)} published runs are all as asked. The others:\n\n{listed}"


def runs_text(name: str, pattern: str = "") -> str:
    """Return the published runs of an experiment as one table, with what is not as asked, figures and origins.

    Args:
        name: Of the experiment.
        pattern: Regular expression that is looked for in the commands of the runs.
    """
    found = [run for run in map(read, published_paths()) if run["name"] == name]
    runs = [run for run in found if re.search(pattern, run["command"])]
    if not runs:
        which = f", with `{pattern}` among its options" if pattern else ""
        return f"Not published yet{which}; made by {_command_of(name)}\n"
    rows = [{**_settings(run), **row} for run in runs for row in _sums(run["rows"])]
    origins = "".join(f"- {_origin(run)} {_count(run['rows'])}\n{_reasons(run['rows'])}" for run in runs)
    figures = [f"![{run['name']}](../../results/{figure})\n" for run in runs for figure in run["figures"]]
    return "\n".join([_table(runs[0], rows), origins, *figures])


def _count(rows: list[dict[str, Any]]) -> str:
    missed = sum(not is_fulfilled(row) for row in rows)
    return f"**Not reached: {missed} of {len(rows)} rows.**" if missed else f"All {len(rows)} rows are as asked."


_FEW = 8
_NAMED = 3  # columns that identify a row


def _reasons(rows: list[dict[str, Any]]) -> str:
    """Return a list of why rows are not as asked; of many, as in a map of pushes, nothing."""
    lines = [f"  - {_missed(rows, row)}\n" for row in rows if not is_fulfilled(row)]
    return "".join(lines) if len(lines) <= _FEW else ""


def _missed(rows: list[dict[str, Any]], row: Mapping[str, Any]) -> str:
    """Return what a row has that others have not, its value, and why it is not as asked."""
    results = ("paper", "value", "asked", "outcome", "reason", "is_capped")
    inputs = [name for name, value in row.items() if name not in results and isinstance(value, str | int | float)]
    own = [cell(row, name) for name in inputs if len({str(other.get(name)) for other in rows}) > 1]
    return f"{', '.join([*own[:_NAMED], cell(row, 'value')])}, {row['outcome']}: {row['reason'] or 'no reason given'}"


def _settings(run: Mapping[str, Any]) -> dict[str, str]:
    words = shlex.split(run["command"])
    found = [value for option, value in pairwise(words) if option == "--set"]
    return {"settings": ", ".join(found)} if found else {}


def _sums(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sums over maps of pushes, with their least and largest cell, or totals of swings; else all rows."""
    sums = [row for row in rows if row.get("phase") == "sum"]
    maps = [{**row, "one push": _of_one_push(rows, row), "compared": row["reason"]} for row in sums]
    return maps or [row for row in rows if row.get("time_s") == ALL] or rows


def _of_one_push(rows: list[dict[str, Any]], total: Mapping[str, Any]) -> str:
    """Return the least and the largest value of the cells of a sum."""
    alike = ("robot", "plant", "control", "mode", "model", "speed_mps", "push_s", "pushes", "turn_degps")
    cells = [row for row in rows if row["phase"] != "sum" and all(row.get(key) == total.get(key) for key in alike)]
    values = [row["value"] for row in cells if row["value"] is not None]
    return f"{min(values):.3g} to {max(values):.3g}" if values else ""


def _origin(run: Mapping[str, Any]) -> str:
    return f"`{run['command']}`, {run['date']}, commit {run['commit'] or 'unknown'}, {run['machine']}."


def _section(run: Mapping[str, Any]) -> Iterator[str]:
    words = run["command"].split()
    yield f"## {' '.join(words[2:])}\n"
    yield f"{run['what']}\n"
    yield f"{_origin(run)}\n"
    yield from _rows(run)
    yield from (f"![{run['name']}](../../results/{figure})\n" for figure in run["figures"])


def _rows(run: Mapping[str, Any]) -> Iterator[str]:
    """Write the rows, and below the table those that are not as asked."""
    rows = run["rows"]
    if not rows:
        yield "No rows.\n"
        return
    yield _table(run, rows)
    yield f"{_count(rows)}\n"
    yield from (f"- {_missed(rows, row)}" for row in rows if not is_fulfilled(row))
    yield ""


def _table(run: Mapping[str, Any], rows: list[dict[str, Any]]) -> str:
    """Return rows with the titles of a run: what all have in common above the table."""
    names = dict.fromkeys(name for row in rows for name in row if name not in ("reason", "is_capped"))
    plain = [name for name in names if not any(isinstance(row.get(name), list | dict) for row in rows)]
    common = [name for name in plain if len(rows) > 1 and len({str(row.get(name)) for row in rows}) == 1]
    shared = [f"{_title(run, name)} {as_text(rows[0][name])}" for name in common if rows[0].get(name) not in ("", None)]
    shown = [name for name in plain if name not in common]
    cells = table([_title(run, name) for name in shown], ([cell(row, name) for name in shown] for row in rows))
    return f"In all rows: {', '.join(shared)}.\n\n{cells}" if shared else cells


def bands_text() -> str:
    """Return a section for each robot: figures in rows, plants and control modes in columns, least and greatest."""
    files = [read(path) for path in published_paths() if path.stem.startswith("reference_bands")]
    known = [row for file in files for row in file["rows"] if row["outcome"] == "met"]
    parts = list[str]()
    origins = [f"`{file['command']}`, {file['date']}, commit {file['commit']}, {file['machine']}.\n" for file in files]
    for robot in sorted({row["robot"] for row in known}):
        columns = [row for row in known if row["robot"] == robot]
        head = [
            f"{row['plant']}, {row['control']}: {row['walks']} walks, {row['slowest']:g}–{row['fastest']:g} m/s"
            for row in columns
        ]
        shown = (one for one in BAND_FIGURES if any(one.key in row["figures"] for row in columns))
        rows = ([_figure_title(one), *(_range(one, row["figures"]) for row in columns)] for one in shown)
        parts += [f"## {robot}\n", table(["figure", *head], rows)]
    return "\n".join([*parts, "## Where they come from\n", *origins])


def _figure_title(figure: KeyFigure) -> str:
    return f"{figure.label} [{figure.unit}]" if figure.unit else figure.label


def _range(figure: KeyFigure, figures: Mapping[str, list[float]]) -> str:
    least, _, most = figures.get(figure.key) or (None,) * 3
    usual = {"usual": {"figures": {figure.key: {"least": least, "most": most}}}}
    return figure.usual_range(usual) or "–"


def _title(run: Mapping[str, Any], name: str) -> str:
    words, _, unit = name.rpartition("_")
    plain = f"{words} [{_UNITS[unit]}]" if words and unit in _UNITS else name
    title = plain if "." in plain else plain.replace("_", " ")  # a key of the configuration stays as it is
    return {"value": run["value_title"], "paper": run["paper_title"]}.get(name, title)
