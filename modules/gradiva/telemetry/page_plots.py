"""Put interactive plots into a page: what they show as data, and Bokeh, which draws them; compressed, no request."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.telemetry.plot_style import ACTIVE, BAND, FOOT, GRID, INK, MUTED, PUSH, REFERENCE, SUPPORT, WARNING
from gradiva.telemetry.walk_panels import Curve, FromAbove, Panel
from gradiva.telemetry.walk_record import WalkRecord, runs_of

_BUNDLES = ("bokeh", "bokeh-api")  # of BokehJS, from Bokeh's wheel
_INKS = {INK: "ink", REFERENCE: "ink", MUTED: "muted", GRID: "rule", BAND: "band", SUPPORT: "support", ACTIVE: "active"}
"""Colours that the page replaces by its own, light or dark: names of variables of report.css."""
_PANEL_HEIGHT, _TALL, _LAST = 124, 1.5, 30  # pixels; factor where there are few panels; what the last one has below
_MOST_ROWS = 6000  # of the logs of all runs together: an 8 min walk is thinned, one of 40 s is not


@dataclass(eq=False)
class RunSeries:
    """Hold what the plots of a page show of one run, columns of one table, whose times are sent once.

    Attributes:
        record: Of the run.
        name: In legends, where several runs share a plot.
        colour: Of its lines there; empty: each curve has its own.
    """

    record: WalkRecord
    name: str = ""
    colour: str = ""
    columns: list[NDArray] = field(default_factory=list)

    def add(self, values: NDArray) -> int:
        """Add a column, shape (T,); return its number."""
        self.columns.append(values)
        return len(self.columns) - 1

    def as_data(self, most_rows: int) -> dict[str, Any]:
        """Return the run as the page's script reads it: numbers as 32 bit floats, row by row, the times last."""
        table = np.column_stack([*self.columns, self.record.log.times])
        rows = np.ascontiguousarray(thinned(table, most_rows).T.astype("<f4"))
        return {
            "rows": rows.shape[1],
            "data": base64.b64encode(rows.tobytes()).decode(),
            "pushes": [] if self.colour else self.record.pushes(),
            "sign": None if self.colour else self.record.first_sign(),
        }


def thinned(table: NDArray, most_rows: int) -> NDArray:
    """Return a table with fewer rows that looks the same: least and greatest of each bucket, in their order.

    Args:
        table: Shape (T, n); NaN is a gap, as wide as its bucket in the result.
        most_rows: A table with no more is returned as it is.
    """
    if len(table) <= most_rows:
        return table
    size = -(-2 * len(table) // most_rows)
    whole = table[: len(table) // size * size].reshape(-1, size, table.shape[1])
    ends = np.stack([whole.min(axis=1), whole.max(axis=1)], axis=1)
    falls = whole.argmin(axis=1) > whole.argmax(axis=1)
    ends = np.where(falls[:, None, :], ends[:, ::-1], ends)
    rest = table[len(whole) * size :]
    return np.vstack([ends.reshape(-1, table.shape[1]), rest[-1:]])


class PlotSheet:
    """Collect the plots of a page: return the place of each, and in the end the data and scripts that draw them."""

    def __init__(self, runs: Sequence[RunSeries]) -> None:
        self._runs, self._plots = runs, list[dict[str, Any]]()

    def over_time(self, rows: Sequence[Sequence[Panel]]) -> str:
        """Add a plot over time; return its place in the page, with its legend.

        Args:
            rows: For each panel what each run shows in it, in the order of the runs.
        """
        heights = [round(_PANEL_HEIGHT * (_TALL if len(rows) < 3 else 1.0))] * len(rows)
        heights[-1] += _LAST
        panels = [self._panel(row, height) for row, height in zip(rows, heights, strict=True)]
        keys = {line["name"]: (line["colour"], line["dashed"]) for panel in panels for line in panel["lines"]}
        return self._place({"panels": panels}, sum(heights), {} if self._are_many else keys)

    @property
    def _are_many(self) -> bool:
        return len(self._runs) > 1

    def _panel(self, row: Sequence[Panel], height: int) -> dict[str, Any]:
        pairs = list(zip(self._runs, row, strict=True))
        shown, first = [panel.shown for panel in row if panel.shown], row[0]
        return {
            "title": first.title,
            "height": height,
            "lines": [line for k, (run, panel) in enumerate(pairs) for line in self._lines(k, run, panel.curves)],
            "extent": None if first.extent is None else [self._runs[0].add(values) for values in first.extent],
            "shade": _spans(first, self._runs[0].record.log.times),
            "shade_colour": _ink(first.shade_colour),
            "shown": [min(low for low, _ in shown), max(high for _, high in shown)] if shown else None,
            "least": first.least,
            "levels": first.levels,
            "scale": "log" if first.is_logarithmic else "linear",
        }

    def _lines(self, place: int, run: RunSeries, curves: Sequence[Curve]) -> list[dict[str, Any]]:
        return [
            {
                "run": place,
                "column": run.add(curve.values),
                "name": run.name or curve.name,
                "colour": _ink(run.colour or curve.colour),
                "dashed": curve.is_reference,
            }
            for curve in curves
        ]

    def from_above(self, walks: Sequence[FromAbove]) -> str:
        """Add the walks on the ground, one for each run, a metre as long on both axes; return its place in the page."""
        lows, highs = zip(*(walk.extent() for walk in walks), strict=True)
        shapes, paths = [], []
        for run, walk in zip(self._runs, walks, strict=True):
            for side in Side:
                colour = run.colour or FOOT[side]
                for soles, dashed in ((walk.soles[side], False), (walk.planned_soles[side], True)):
                    corners = [np.round(sole, 4).T.tolist() for sole in soles]
                    shapes.append(
                        {"corners": corners, "name": run.name or str(side), "colour": colour, "dashed": dashed}
                    )
            for name, (colour, path) in walk.paths.items():
                points = np.round(path, 4).T.tolist()
                paths.append({"points": points, "name": run.name or name, "colour": run.colour or colour})
        keys = {one["name"]: (one["colour"], False) for one in (*shapes, *paths)}
        extent = np.round([np.min(lows, axis=0), np.max(highs, axis=0)], 4).T.tolist()
        return self._place({"shapes": shapes, "paths": paths, "extent": extent}, 380, {} if self._are_many else keys)

    def _place(self, plot: dict[str, Any], height: int, keys: dict[str, tuple[str, bool]]) -> str:
        self._plots.append(plot)
        return f'{legend(keys)}<div class="plot" style="min-height:{height}px"></div>'

    def scripts(self) -> str:
        """Return the elements of the page's end: the data, Bokeh, and the script that draws."""
        runs = [run.as_data(_MOST_ROWS // len(self._runs)) for run in self._runs]
        page = json.dumps({"runs": runs, "plots": self._plots, "push": PUSH, "sign": WARNING}, separators=(",", ":"))
        bundles = "".join(_packed("bundle", bundle(name)) for name in _BUNDLES)
        script = files("gradiva.telemetry").joinpath("page_plots.js").read_text(encoding="utf-8")
        return f"{bundles}{_packed('data', page.encode())}<script>\n{script}</script>"


def legend(keys: dict[str, tuple[str, bool]]) -> str:
    """Return switches of lines: for each name the colour, and whether it is dashed; nothing where none has a name."""
    switches = [
        f'<label class="key{" dashed" * is_dashed}" style="--key:{_css(colour)}"><input type="checkbox" checked '
        f'value="{escape(name)}">{escape(name)}</label>'
        for name, (colour, is_dashed) in keys.items()
        if name
    ]
    return f'<div class="keys">{"".join(switches)}</div>' if switches else ""


def bundle(name: str) -> bytes:
    """Return a script of BokehJS."""
    import bokeh  # a tenth of a second; of its models the page needs none

    return files(bokeh).joinpath("server", "static", "js", f"{name}.min.js").read_bytes()


def _packed(kind: str, content: bytes) -> str:
    text = base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()
    return f'<script type="text/plain" class="packed-{kind}">{text}</script>\n'


def _ink(colour: str) -> str:
    """Return a colour, or the name of the variable by which the page replaces it."""
    return f"--{_INKS[colour]}" if colour in _INKS else colour


def _css(colour: str) -> str:
    return f"var({colour})" if colour.startswith("--") else colour


def _spans(panel: Panel, times: NDArray) -> list[list[float]]:
    """Return begins and ends of what is shaded, [s]."""
    if panel.shade is None:
        return [[], []]
    return times[np.array(runs_of(panel.shade), dtype=int).reshape(-1, 2)].T.round(4).tolist()
