"""Folders to find a fault by: dumps of a controller's black box, and archives of runs and dumps to send."""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
import socket
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import ConfigError, NDArray, Side
from gradiva.robot_model import RobotDescription
from gradiva.session import RecordedRun, Recording, Rows, Snapshot, Trigger, element_names_of_sensors
from gradiva.setup import Setup
from gradiva.simulated_walk import diagnose_recording
from gradiva.telemetry import RunFolder, SignalLog, WalkRecord, plain, unit_of, unsaved, write_report
from gradiva.walking import element_names

DUMPED = "recorded"
"""Outcome of a dump: that of its walk is not known."""
_LEAST = 64  # [rows] fewer are not worth a file
_MOST_ROWS = 6000  # of a diagnosis and the plots, 100 Hz
_KILLED = "the controller was killed"
_LOOP = "dcm::position::measured"  # a signal of ticks in which the control loop ran
_MACHINE, _MESSAGES = "machine.json", "messages.txt"
_PACKAGES = ("gradiva", "pureyarp", "numpy", "casadi", "osqp", "daqp", "idyntree", "mujoco", "h5py")
_HOMES = re.compile(r"(?<![\w.-])(?:/home/|/Users/)[^/\s\"'<>:]+|(?<![\w.-])/root(?=[/\s\"'<>:]|$)")
_TEXTS = (".toml", ".json", ".txt", ".html", ".csv", ".log")

# -- dumps -------------------------------------------------------------------------------------------------------------


def write_dump(run: RecordedRun, recording: Recording, rows: Snapshot, triggers: Sequence[Trigger]) -> str:
    """Write configuration, result, machine, log, report; return a line that says where, and what the disk did not take.

    Args:
        run: Of the controller.
        recording: Of the rows.
        rows: Times, [s], and signals, of a `SignalRing`.
        triggers: Why it is written, the first one first; none where the controller ended without a word.

    Raises:
        ConfigError: Not even the folder can be written.
    """
    robot, log = run.setup.robot, _log_of(run.setup, recording, *rows)
    reason = triggers[0].reason if triggers else _KILLED
    folder = RunFolder.create(run.parent, f"{robot.name}-black-box-{reason}", run.setup.tables)
    loop = _loop_of(log)
    result = _result(run, triggers, reason, log, loop)
    messages = "\n".join(triggers[-1].messages if triggers else ()) + "\n"
    lost = unsaved(folder.result_path, lambda: folder.write_result(result))
    texts = {_MACHINE: _as_json({**machine_facts(), "module": run.module}), _MESSAGES: messages.encode()}
    for path, text in ((folder.path / name, text) for name, text in texts.items()):
        lost += unsaved(path, partial(path.write_bytes, text))
    written, without = _write_log(folder, log, robot)
    record = WalkRecord.of(loop, robot.joints, plain(result))
    if len(loop) > 1:
        lost += unsaved(folder.report_path, lambda: write_report(folder, record))
    line = f"{folder.path}: the last {written:.1f} s until '{reason}'"
    return "; not saved: ".join([line, *without, *lost])


def _log_of(setup: Setup, recording: Recording, times: NDArray, table: Rows) -> SignalLog:
    """Return the rows as a log, its columns named."""
    signals = {name: table[:, columns].astype(np.float64) for name, columns in recording.columns.items()}
    robot, log = setup.robot, SignalLog.from_arrays(times, signals)
    sensors = tuple(sensor.name for sensor in robot.force_torque_sensors)
    named = {**element_names_of_sensors(robot.joints, sensors), **recording.elements}
    flexible = tuple(joint.name for joint in robot.flexible_joints)
    for name, columns in recording.columns.items():
        elements = named.get(name) or element_names(name, robot.joints, flexible)
        if len(elements) == columns.stop - columns.start:
            log.describe(name, elements, unit_of(name))
    return log


def _loop_of(log: SignalLog) -> SignalLog:
    """Return the last ticks in which the control loop ran without a break, of a fast loop some of them."""
    if _LOOP not in log:
        return SignalLog()
    runs = np.atleast_1d(np.isfinite(log[_LOOP][:, 0]))
    last = int(np.flatnonzero(runs)[-1]) + 1 if runs.any() else 0
    breaks = np.flatnonzero(~runs[:last])
    first = int(breaks[-1]) + 1 if len(breaks) else 0
    step = max(1, (last - first) // _MOST_ROWS)
    return _part(log, slice(first + (last - 1 - first) % step, last, step))  # the last one is among them


def _part(log: SignalLog, rows: slice) -> SignalLog:
    part = SignalLog.from_arrays(log.times[rows], {name: log[name][rows] for name in log})
    for name in log:
        part.describe(name, log.info(name).elements, log.info(name).unit)
    return part


def _write_log(folder: RunFolder, log: SignalLog, robot: RobotDescription) -> tuple[float, list[str]]:
    """Write as much of the end of a log as the disk takes; return its duration, [s], and what did not fit."""
    rows, lost = len(log), list[str]()
    duration = _duration(log)
    while rows >= _LEAST:
        part = log if rows == len(log) else _part(log, slice(len(log) - rows, None))
        if not (lost := unsaved(folder.log_path, partial(folder.write_log, part, robot.joints, robot.name))):
            fits = _duration(part)
            return fits, [f"the {duration - fits:.1f} s before: the disk is full"] if rows < len(log) else []
        rows //= 2
    return 0.0, lost


def _duration(log: SignalLog) -> float:
    return float(log.times[-1] - log.times[0]) if len(log) else 0.0


def _result(
    run: RecordedRun, triggers: Sequence[Trigger], reason: str, log: SignalLog, loop: SignalLog
) -> dict[str, Any]:
    """Return the result of a dump: why it was written, and what the plots of a report need."""
    setup, robot = run.setup, run.setup.robot
    events, state = (triggers[-1].events, f"; {triggers[-1].state}") if triggers else ((), "")
    is_fault = not triggers or any(each.is_fault for each in triggers)
    diagnosis = diagnose_recording(loop, setup, run.velocity_limits, events) if is_fault and len(loop) > 1 else None
    lower, upper = run.joint_limits
    return {
        "outcome": DUMPED,
        "reason": f"{reason}{state}{diagnosis or ''}",
        "triggers": [{"reason": each.reason, "time_s": each.time, "state": each.state} for each in triggers],
        "diagnosis": None if diagnosis is None else diagnosis.as_table(),
        "robot": robot.name,
        "title": robot.title,
        "control": str(setup.walking.walking.control),
        "model": str(setup.walking.walking.model),
        "duration_s": _duration(log),
        "samples": len(log),
        "safety_events": [event.as_table() for event in events],
        "joints": list(robot.joints),
        "sole": {"x": list(robot.sole.x), "y": list(robot.sole.y)},
        "legs": {str(side): list(robot.joint_groups[f"{side}_leg"].joints) for side in Side},
        "torque_limits": run.torque_limits.tolist(),
        "joint_limits": {"lower": lower.tolist(), "upper": upper.tolist()},
    }


def machine_facts() -> dict[str, Any]:
    """Return this machine and its versions of packages; the host's and the user's name are not among them."""
    versions = {}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "packages": versions,
        "environment": {name: value for name, value in os.environ.items() if name.startswith(("YARP_", "OMP_"))},
    }


# -- archives ----------------------------------------------------------------------------------------------------------


def write_archive(folder: RunFolder, path: Path) -> list[str]:
    """Write an archive of a run or dump, paths of home folders in its texts replaced; return lines of its contents.

    Raises:
        OSError: The disk does not take it; no torn file stays.
        ConfigError: It exists already.
    """
    if path.exists():
        raise ConfigError(f"{path} exists already: --out names another file")
    files, lines = sorted(file for file in folder.path.rglob("*") if file.is_file()), list[str]()
    contents = {str(file.relative_to(folder.path)): _content(file) for file in files}
    if _MACHINE not in contents:
        contents[_MACHINE] = _as_json(machine_facts())
    personal = _personal_words()
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(contents.items()):
                archive.writestr(f"{folder.name}/{name}", content)
                found = [kind for kind, word in personal.items() if _holds(content, word)]
                note = f": {', '.join(found)}" if found else ""
                lines.append(f"{len(content) / 1e3:10.1f} kB  {name}{note}")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return lines


def _content(file: Path) -> bytes:
    """Return the bytes of a file; of a text, with home folders as ``~``."""
    content = file.read_bytes()
    if file.suffix not in _TEXTS:
        return content
    return _HOMES.sub("~", content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _as_json(table: Mapping[str, Any]) -> bytes:
    return (json.dumps(plain(table), indent=2) + "\n").encode()


def _personal_words() -> dict[str, str]:
    """Return what an archive should not hold without its sender's knowledge, by kind."""
    words = {"names this host": socket.gethostname()}
    with suppress(OSError, KeyError):
        words["names the user"] = getpass.getuser()
    return {kind: word for kind, word in words.items() if len(word) > 2 and word != "root"}


def _holds(content: bytes, word: str) -> bool:
    """Return whether a word stands in bytes, also as characters of MATLAB."""
    return any(word.encode(code) in content for code in ("utf-8", "utf-16-le"))
