"""Runs a campaign: gives its trials to an engine, and keeps a row of each."""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

import gradiva
from gradiva.common import ConfigError, PlanningError, WalkingError
from gradiva.setup import parse_setting
from gradiva.simulated_walk import WALKED, run_walk
from gradiva_experiments.campaign.campaign_file import (
    FAILED,
    TEXTS,
    Campaign,
    Options,
    as_cell,
    read_campaign,
    walk_options,
)
from gradiva_experiments.campaign.driver import carry_out
from gradiva_experiments.campaign.engine import Engine
from gradiva_experiments.campaign.trial_rows import (
    KEY,
    TrialRows,
    is_disk_trouble,
    read_rows,
    when_writable,
    with_one_type,
)
from gradiva_experiments.experiment import current_commit
from gradiva_experiments.trial import code_digest

WALK = "gradiva_experiments.campaign.campaign:walk_trial"
REFUSED = "refused"
"""Outcome of a walk whose configuration is wrong, or whose command no plan fulfils."""
FALL = 1.0
"""Cost of a walk that is lost at its end, [m]; at its start twice as much. Walks that succeed cost millimetres."""
_LINE_PERIOD = 30.0  # [s] between lines of progress where there is no terminal for a bar
_FILE, _KEYS, _ABOUT = "campaign.toml", "trials.keys", "campaign.json"

# -- a walk, in the process of a worker ------------------------------------------------------------------------------


def walk_trial(argument: Mapping[str, Any]) -> dict[str, Any]:
    """Walk; return outcome, reason, cause, scores and versions: what does not depend on the campaign."""
    try:
        figures = run_walk(walk_options(with_files(argument)).request()).result
    except PlanningError as error:
        figures = {"outcome": REFUSED, "reason": f"no plan: {error}"}
    except WalkingError as error:
        figures = {"outcome": REFUSED, "reason": str(error)}
    diagnosis = figures.get("diagnosis") or {}
    cause = diagnosis.get("cause") or diagnosis.get("first_sign") or ""
    scores = {name: value for name, value in _numbers(figures).items() if name != "seed"}
    return {"outcome": figures["outcome"], "reason": figures["reason"], "cause": cause, **scores, **versions()}


def with_files(argument: Mapping[str, Any]) -> Options:
    """Return the options of a walk; files that this host does not have, or has otherwise, are written to a folder.

    It goes with this process, also with one that is killed (`engine.WalkProcess`).

    Args:
        argument: The options, and under `TEXTS` the texts of their files by path.
    """
    places = {name: _at_hand(name, text) for name, text in argument.get(TEXTS, {}).items()}
    options = {name: value for name, value in argument.items() if name != TEXTS}
    options |= {"files": [places[name] for name in options["files"]]} if "files" in options else {}
    return options | ({"path": places[options["path"]]} if "path" in options else {})


def _at_hand(name: str, text: str) -> str:
    with suppress(OSError, UnicodeDecodeError):
        if Path(name).read_text(encoding="utf-8") == text:
            return name
    return _written(name, text)


@lru_cache(maxsize=256)
def _written(name: str, text: str) -> str:
    place = Path(tempfile.mkdtemp(dir=_files_of_this_process().name)) / Path(name).name
    place.write_text(text, encoding="utf-8")
    return str(place)


@lru_cache(maxsize=1)
def _files_of_this_process() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gradiva-campaign-")


def _numbers(table: Mapping[str, Any], above: str = "") -> dict[str, float]:
    """Return the finite numbers of nested tables by dotted names, without times of ticks, which no trial repeats."""
    found: dict[str, float] = {}
    for name, value in table.items():
        if isinstance(value, Mapping) and name not in ("tick_us", "usual", "diagnosis"):
            found |= _numbers(value, f"{above}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            found[f"{above}{name}"] = float(value)
    return found


def versions() -> dict[str, str]:
    """Return what a result depends on, by column."""
    return {
        "gradiva": gradiva.__version__,
        "code": code_digest()[:12],
        "mujoco": version("mujoco"),
        "python": platform.python_version(),
    }


# -- the driver ------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class CampaignRun:
    """A campaign in its folder, which it goes on with where one was interrupted.

    Attributes:
        campaign: What is walked.
        folder: Folder of rows and report.
        source: Text of the campaign's file, of which the folder has a copy.
        note: Called with a line that the user should read.
        progress: Called with the rows so far and a text.
        warnings: Lines that are noted before the first walk.
    """

    campaign: Campaign
    folder: Path
    source: str
    note: Callable[[str], None] = lambda line: None
    progress: Callable[[int, str], None] = lambda done, text: None
    warnings: Sequence[str] = ()
    _started: float = field(default_factory=time.monotonic)
    _failed: int = 0

    def run(self, engine: Callable[[], Engine]) -> None:
        """Walk what has no row yet; Ctrl-C leaves the rows of all trials that have ended.

        Args:
            engine: Makes the engine that carries out the trials, where there are any left.

        Raises:
            WalkingError: The campaign is wrong, its folder cannot be written, or the scheduler is lost for good.
        """
        with TrialRows(self.folder / "rows") as rows:
            keys = [trial.key for trial in self.campaign.trials()]
            done = len(rows.keys.intersection(keys))
            commit = current_commit() if done < len(set(keys)) else _commit_before(self.folder)
            when_writable(lambda: self._describe(keys, commit), self.folder, self.note)
            if done:
                self.note(f"{done} of {len(keys)} trials have been walked before")
            if done == len(set(keys)):
                return
            for line in self.warnings:
                self.note(line)
            with engine() as running:
                running.note = self.note
                trials, workers = counted(len(set(keys)) - done, "trial"), counted(running.worker_count, "worker")
                self.note(f"{trials} on {workers}, {running.dashboard}")
                self._walk(running, rows, done)

    def _describe(self, keys: Iterable[str], commit: str) -> None:
        """Write what is walked, by which commit; only the driver that has the lock of the rows does.

        Raises:
            ConfigError: The folder cannot be written.
            OSError: The disk is full or lost.
        """
        campaign = self.campaign
        about = {"name": campaign.name, "inputs": campaign.inputs, "count": campaign.count, "commit": commit}
        texts = {
            _FILE: self.source,
            _ABOUT: json.dumps(about, indent=2) + "\n",
            _KEYS: "".join(f"{key}\n" for key in keys),
        }
        for name, text in texts.items():
            try:
                _replace(self.folder / name, text)
            except OSError as error:
                if is_disk_trouble(error):
                    raise
                raise ConfigError(f"cannot write {self.folder / name}: {error.strerror}") from None

    def _walk(self, engine: Engine, rows: TrialRows, before: int) -> None:
        walked = 0

        def keep(row: dict[str, Any]) -> None:
            """Write a row; while the disk does not take it, workers end what they have, and get no more."""
            nonlocal walked
            walked += 1
            self._failed += row["outcome"] == FAILED
            when_writable(lambda: rows.add(row), self.folder, self.note)

        left = (trial.walked() for trial in self.campaign.trials() if trial.key not in rows.keys)
        for _ in carry_out(
            left, engine, keep, progress=lambda: self.progress(before + walked, self._text(before, walked))
        ):
            pass

    def _text(self, before: int, walked: int) -> str:
        """Return how far the campaign is, and once a trial has ended its rate and the time that is left."""
        done = before + walked
        text = f"{done} of {counted(self.campaign.count, 'trial')}"
        if not walked:
            return text
        seconds = (time.monotonic() - self._started) / walked
        left = timedelta(seconds=round(seconds * (self.campaign.count - done)))
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{text}, {60.0 / max(seconds, 1e-3):.0f} a minute, {left} left{failed}"


def begin(path: Path, out: Path) -> CampaignRun:
    """Return the run of a file in its folder: a new one, or that of an earlier run of the same file.

    Nothing is written before the run has the lock of the folder.

    Raises:
        WalkingError: The file is wrong.
    """
    campaign = read_campaign(path)
    warnings = campaign.check()
    folder, text = out / f"campaign-{campaign.name}", path.read_text(encoding="utf-8")
    return CampaignRun(campaign, folder, text, warnings=warnings)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural but for one."""
    return f"{count} {noun}{'s' * (count != 1)}"


def _commit_before(folder: Path) -> str:
    """Return the commit of an earlier run, empty where it is not known."""
    with suppress(OSError, ValueError):
        return str(json.loads((folder / _ABOUT).read_text(encoding="utf-8")).get("commit", ""))
    return ""


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def shown(console: Console, update: Callable[[int, str], object]) -> Callable[[int, str], None]:
    """Return what shows progress: by a bar, and by a line now and then where there is no terminal."""
    printed = -math.inf

    def show(done: int, text: str) -> None:
        nonlocal printed
        update(done, text)
        if not console.is_terminal and time.monotonic() - printed > _LINE_PERIOD:
            printed = time.monotonic()
            console.print(text, markup=False)

    return show


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """The rows of a campaign, as far as it has come.

    Attributes:
        name: Name of the campaign.
        folder: Where it lies.
        inputs: Names of what it varies.
        count: Number of trials that it asks for.
        rows: Rows of the trials of its file, in its order, as it was read last.
        commit: Commit of the code that walked last, empty where it is not known.
    """

    name: str
    folder: Path
    inputs: tuple[str, ...]
    count: int
    rows: list[dict[str, Any]]
    commit: str = ""


def read_result(folder: Path) -> CampaignResult:
    """Return the rows of a campaign.

    Raises:
        ConfigError: The folder is not that of a campaign.
    """
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        keys = (folder / _KEYS).read_text(encoding="utf-8").split()
    except OSError:
        raise ConfigError(f"{folder} is not the folder of a campaign: it has no {_ABOUT}, {_KEYS}") from None
    asked = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    rows = [_with_inputs(row, about["inputs"]) for row in read_rows(folder / "rows") if row[KEY] in asked]
    rows.sort(key=lambda row: asked[row[KEY]])
    inputs, commit = tuple(about["inputs"]), about.get("commit", "")
    return CampaignResult(about["name"], folder, inputs, len(asked), with_one_type(rows), commit)


def _with_inputs(row: dict[str, Any], inputs: list[str]) -> dict[str, Any]:
    """Return a row with inputs that were common to all trials when it was walked, and are varied now."""
    missing = [name for name in inputs if row.get(name) is None]
    options = json.loads(row["options"]) if missing else {}
    settings = dict(map(parse_setting, options.get("settings", ())))
    return row | {name: as_cell(options.get(name, settings.get(name))) for name in missing}


def is_success(row: Mapping[str, Any]) -> bool:
    """Return whether the robot did what was commanded."""
    return bool(row["outcome"] == WALKED)


def walk_cost(row: Mapping[str, Any]) -> float:
    """Return rms DCM error plus rms ZMP error, [m]; of a walk that is lost `FALL` and more, the earlier the more."""
    dcm, zmp = (row.get(f"{name}_error_m.rms") for name in ("dcm", "zmp"))
    if is_success(row) and dcm is not None and zmp is not None:
        return float(dcm + zmp)
    asked = json.loads(row["options"]).get("duration", 10.0)
    return FALL * (2.0 - min(1.0, (row.get("duration_s") or 0.0) / asked))
