"""The page that tells how a run went."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from pathlib import Path

from gradiva.telemetry.plots import PLOTS, Plot
from gradiva.telemetry.report_page import events, folded, heading, tables, tiles
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.walk_record import WalkRecord


def write_report(run: RunFolder) -> Path:
    """Write ``report.html``: outcome, key figures, plots, configuration; one file that asks nothing of a network.

    Plots whose signals are not in the log are left out, and the page says so, unless most runs have none.

    Raises:
        ConfigError: The run has no log, or a file of it cannot be read.
    """
    record = WalkRecord.read(run)
    parts = [
        heading(record.result, run.name),
        tiles(record.result),
        tables(record.result),
        events(record.result),
        "<h2>Plots</h2>",
        _plots(record),
        "<h2>Details</h2>",
        folded("Configuration", run.config_path.read_text(encoding="utf-8")),
        folded("Result", json.dumps(record.result, indent=2)),
    ]
    run.report_path.write_text(_page(run.name, "\n".join(parts)), encoding="utf-8")
    return run.report_path


def _page(title: str, body: str) -> str:
    style = files("gradiva.telemetry").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body><main>\n{body}\n</main></body>\n</html>\n"
    )


def _plots(record: WalkRecord) -> str:
    drawn = [plot for plot in PLOTS if len(record.log) > 1 and not plot.missing(record)]
    left_out = [_excuse(plot, record) for plot in PLOTS if plot not in drawn and not plot.is_special]
    excuses = f'<div class="wide left-out">{"".join(left_out)}</div>' if left_out else ""
    return f'<div class="columns">{"".join(_figure(plot, record) for plot in drawn)}{excuses}</div>'


def _figure(plot: Plot, record: WalkRecord) -> str:
    wide = " wide" if plot.is_wide else ""
    return (
        f'<figure class="card{wide}"><figcaption><h3>{escape(plot.title)}</h3><p>{escape(plot.caption)}</p>'
        f"</figcaption>{plot.svg(record)}</figure>\n"
    )


def _excuse(plot: Plot, record: WalkRecord) -> str:
    missing = plot.missing(record)
    why = f"the log has no {', '.join(missing)}" if missing else "the log has less than two ticks"
    return f"<p>“{escape(plot.title)}” is left out: {escape(why)}.</p>"
