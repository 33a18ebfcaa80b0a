"""Writes samples of a walk to the journal and the log of its run folder."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradiva.middleware import NAMED_ERRORS, Element, VectorsSample
from gradiva.telemetry import JOURNAL_NAME, JournalReader, RunFolder, SignalJournal

_LOGGER = logging.getLogger("gradiva.module")
_JOINTS = "joints_state::positions::measured"

Names = Mapping[str, Sequence[str]]
"""Names of the elements of each vector."""


@dataclass(frozen=True, slots=True)
class RunDescription:
    """Describes the runs beside their signals.

    Attributes:
        parent: Folder of the run folders.
        robot: Its name; empty where it is not known.
        tables: The merged configuration.
        result: What goes into every result: sole, joint limits.
    """

    parent: Path
    robot: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)


class LogRecorder:
    """Writes each run of the source to a run folder of its own.

    A new folder begins when the source was restarted (it numbers its messages anew, or its time goes back), when there
    is a signal that the present one has no columns for, and after `finish`. Until a run is finished its rows lie in a
    journal, from which `finish_left_over` makes the log of a recorder that was killed.

    Attributes:
        run: The present folder; None between two runs.
        samples: Taken, of all runs.
        lost: Numbers that no sample carried, of all runs.
        runs: Folders so far.
    """

    def __init__(self, description: RunDescription) -> None:
        """Take the description of the runs."""
        self._description = description
        self._journal: SignalJournal | None = None
        self._signals: dict[str, tuple[str, ...]] = {}
        self._last: VectorsSample | None = None
        self.run: RunFolder | None = None
        self.samples = self.lost = self.runs = 0

    def is_restart(self, sample: VectorsSample) -> bool:
        """Return whether the source was restarted between the last sample and this one."""
        last = self._last
        if last is None:
            return False
        is_renumbered = None not in (sample.number, last.number) and _number(sample) <= _number(last)
        return is_renumbered or _time(sample) < _time(last)

    def take(self, sample: VectorsSample, names: Names) -> None:
        """Write one sample.

        Args:
            sample: With its time.
            names: Of the elements; numbers where they are unknown.

        Raises:
            WalkingError: The folder or the file cannot be written.
        """
        if self.is_restart(sample):
            self.finish("the source was restarted")
        elif self._last is not None and None not in (sample.number, self._last.number):
            self.lost += max(0, _number(sample) - _number(self._last) - 1)
        if any(len(self._signals.get(name, ())) != len(values) for name, values in sample.vectors.items()):
            self.finish("there are new signals")
            self._signals |= {name: _elements(name, values, names) for name, values in sample.vectors.items()}
        if self._journal is None:
            self._journal = self._begin()
        self._journal.append(_time(sample), sample.vectors)
        self._last = sample
        self.samples += 1

    def flush(self) -> None:
        """Give the journal to the disk.

        Raises:
            WalkingError: The disk does not take it.
        """
        if self._journal is not None:
            self._journal.flush()

    def finish(self, reason: str) -> RunFolder | None:
        """Write the log of the present run and return its folder; None where there is none.

        Raises:
            WalkingError: It cannot be written; the journal stays.
        """
        journal, run = self._journal, self.run
        try:
            if journal is None or run is None:
                return None
            journal.close()
            _finish(run, reason)
            return run
        finally:  # last: a reader that sees no run finds its log
            self._journal, self.run, self._last = None, None, None

    def status(self) -> list[Element]:
        """Return the state of the recorder as pairs (name value)."""
        rows = self._journal.rows if self._journal is not None else 0
        folder = str(self.run.path) if self.run is not None else ""
        return [["samples", self.samples], ["lost", self.lost], ["runs", self.runs], ["rows", rows], ["run", folder]]

    def _begin(self) -> SignalJournal:
        description = self._description
        self.run = RunFolder.create(description.parent, f"{description.robot or 'robot'}-log", description.tables)
        self.runs += 1
        metadata = {"robot": description.robot, "result": dict(description.result)}
        return SignalJournal(self.run.path / JOURNAL_NAME, self._signals, metadata)


def finish_left_over(parent: Path) -> list[RunFolder]:
    """Write the logs of runs whose recorder was killed; return their folders. Runs that are being recorded are left."""
    finished = []
    for path in sorted(parent.glob(f"*/{JOURNAL_NAME}")):
        try:
            run = RunFolder(path.parent)
            _finish(run, "the logger was killed")
        except NAMED_ERRORS:
            continue  # it is being written, or nothing can be read from it: it stays as it is
        except OSError as error:  # a full disk must not keep the logger from beginning
            _LOGGER.warning("logger: %s stays, its log cannot be written: %s", path, error)
            continue
        finished.append(run)
    return finished


def _finish(run: RunFolder, reason: str) -> None:
    """Turn the journal of a run into its log and result."""
    path = run.path / JOURNAL_NAME
    with JournalReader(path) as journal:
        robot = journal.metadata.get("robot", "")
        joints = journal.info(_JOINTS).elements if _JOINTS in journal else ()
        run.write_log(journal, joints, robot)
        result = {
            "outcome": "logged",
            "reason": reason,
            "robot": robot,
            "joints": list(joints),
            "samples": len(journal),
            "duration_s": journal.duration,
            **journal.metadata.get("result", {}),
        }
    run.write_result(result)
    path.unlink()


def _elements(name: str, values: Sequence[float], names: Names) -> tuple[str, ...]:
    known = tuple(names.get(name, ()))
    return known if len(known) == len(values) else tuple(f"element_{index}" for index in range(len(values)))


def _time(sample: VectorsSample) -> float:
    return 0.0 if sample.time is None else sample.time


def _number(sample: VectorsSample) -> int:
    return 0 if sample.number is None else sample.number
