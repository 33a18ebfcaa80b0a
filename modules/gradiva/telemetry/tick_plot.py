"""How long the ticks took."""

from __future__ import annotations

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from gradiva.telemetry.plot_style import COM, DCM, FULL_WIDTH, INK, ZMP, line
from gradiva.telemetry.walk_record import WalkRecord

_COLOURS = {"estimation": COM, "model_control": DCM, "whole_body": ZMP, "total": INK}
_HEIGHT = 2.6  # inch
_BINS = 60


def plot_ticks(record: WalkRecord) -> Figure:
    """Draw the computation time of each layer over time, and its distribution, on one scale of microseconds."""
    log = record.log
    layers = {name: log[f"tick::{name}"][:, 0] for name in _COLOURS if f"tick::{name}" in log}
    figure = Figure(figsize=(FULL_WIDTH, _HEIGHT))
    bottom, height = 0.42 / _HEIGHT, 1.0 - 0.84 / _HEIGHT
    over_time = figure.add_axes((0.55 / FULL_WIDTH, bottom, 0.55, height))
    counts = figure.add_axes((0.66, bottom, 0.335, height))
    positive = np.concatenate([samples[samples > 0.0] for samples in layers.values()])
    ends = (positive.min(), positive.max()) if len(positive) else (1.0, 10.0)
    bins = np.geomspace(ends[0], 1.05 * ends[1], _BINS)
    for name, samples in layers.items():
        colour = _COLOURS[name]
        line(over_time, log.times, samples, colour, name.replace("_", " "), width=0.8)
        counts.hist(samples, bins=bins.tolist(), histtype="stepfilled", color=colour, alpha=0.55, linewidth=0)
    over_time.set_yscale("log")
    _plain_numbers(over_time.yaxis)
    over_time.set_xlim(log.times[0], max(log.times[-1], log.times[0] + 1e-3))
    over_time.set_title("tick time [µs]")
    over_time.set_xlabel("time [s]", loc="right", labelpad=1.0)
    counts.set_xscale("log")
    _plain_numbers(counts.xaxis)
    counts.set_yscale("log")
    _plain_numbers(counts.yaxis)
    counts.set_ylim(bottom=0.7)
    counts.set_title("number of ticks")
    counts.set_xlabel("tick time [µs]", loc="right", labelpad=1.0)
    figure.legend(loc="upper right", ncols=4, bbox_to_anchor=(0.995, 1.0), borderaxespad=0.1)
    return figure


def _plain_numbers(axis: Axis) -> None:
    """Write 1, 2, 5, 10, 20 … at a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
