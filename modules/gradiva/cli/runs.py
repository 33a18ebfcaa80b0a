"""``gradiva report``, ``gradiva view`` and ``gradiva export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once

Run = Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run.")]


def report(run: Run) -> int:
    """Write the report of a run again."""
    with leaving_at_once():
        from gradiva.telemetry import RunFolder, write_report

    print(write_report(RunFolder(Path(run))))
    return 0


def view(
    run: Run,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; the next free one if in use.")] = 8080,
    save: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Write a page that replays by itself instead.")
    ] = None,
) -> int:
    """Replay a run in the browser."""
    with leaving_at_once():
        from gradiva.cli.output import check_writable
        from gradiva.common import ConfigError
        from gradiva.setup import load_robot
        from gradiva.telemetry import RunFolder, replay, save_replay_page

    folder = RunFolder(Path(run))
    name = folder.read_config().get("robot")
    if not isinstance(name, str):
        raise ConfigError(f"{folder.config_path} has no key robot")
    robot = load_robot(name)
    if save is None:
        replay(folder, robot, port)
    else:
        check_writable(Path(save))
        print(save_replay_page(folder, robot, Path(save)))
    return 0


def export(
    run: Run,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="csv or npz (numpy).")] = "csv",
    signals: Annotated[
        list[str] | None,
        typer.Option("--signal", metavar="NAME", help="Only these, such as 'dcm*'; may be repeated."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where to; log.csv or log.npz in the run's folder by default.")
    ] = None,
) -> int:
    """Write the signals of a run's log.mat as CSV or NPZ: a column time and one for each element, SI units."""
    with leaving_at_once():
        from gradiva.cli.output import check_writable
        from gradiva.common import ConfigError, nearest_name
        from gradiva.telemetry import ExportFormat, RunFolder, export_log

    formats = [str(known) for known in ExportFormat]
    if form not in formats:
        raise ConfigError(f"unknown --format '{form}'{nearest_name(form, formats)}")
    folder = RunFolder(Path(run))
    log = folder.read_log().log
    path = folder.path / f"log.{form}" if out is None else Path(out)
    check_writable(path)
    export_log(log, path, ExportFormat(form), signals or ())
    print(path)
    return 0
