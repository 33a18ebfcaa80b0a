"""Writes the signals of a log to formats that other programs read: CSV and numpy's NPZ."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from gradiva.common import nearest_name
from gradiva.telemetry.signal_log import LogError, SignalLog

_NUMBER = "%.9g"  # micrometres of a kilometre, and a tenth of the lines that all digits would need


class ExportFormat(StrEnum):
    """Formats of an export; the value is the suffix of the file as well."""

    CSV = "csv"
    NPZ = "npz"


def export_log(log: SignalLog, path: Path, form: ExportFormat, patterns: Sequence[str] = ()) -> None:
    """Write signals of a log.

    CSV has one row a tick: ``time``, then a column for each element, such as ``dcm::position::measured::x``. NPZ has
    the array ``time``, shape (T,), and one array for each signal, shape (T, n). Units are SI, frames those of the log.

    Args:
        log: Of a run.
        path: Of the file; replaced if it exists.
        form: CSV or NPZ.
        patterns: Names of signals, in which ``*`` stands for any characters; all signals by default.

    Raises:
        LogError: A pattern fits no signal.
        OSError: The file cannot be written.
    """
    names = _chosen(log, patterns)
    if form is ExportFormat.NPZ:
        np.savez_compressed(path, allow_pickle=False, **{"time": log.times, **{name: log[name] for name in names}})
        return
    header = ",".join(["time", *(column for name in names for column in columns_of(log, name))])
    table = np.column_stack([log.times, *(log[name] for name in names)])
    np.savetxt(path, table, fmt=_NUMBER, delimiter=",", header=header, comments="", encoding="utf-8")


def columns_of(log: SignalLog, name: str) -> list[str]:
    """Return the column names of a signal: its own name for a number, one name an element for a vector."""
    elements = log.info(name).elements
    return [name] if len(elements) == 1 else [f"{name}::{element}" for element in elements]


def _chosen(log: SignalLog, patterns: Sequence[str]) -> list[str]:
    """Return the signals that fit any pattern, in the order of the log."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in log):
            raise LogError(f"the log has no signal '{pattern}'{nearest_name(pattern, log.names)}")
    return [name for name in log if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)]
