"""The folder of one run: its configuration, result, log and report."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

import tomli_w

from gradiva.common import ConfigError
from gradiva.telemetry.log_files import MatLog, SignalSource, plain, read_mat, without_none, write_mat
from gradiva.telemetry.signal_log import LogError


class RunFolder:
    """``runs/<time>-<name>/`` with ``config.toml``, ``result.json``, ``log.mat`` and ``report.html``.

    A folder is a run as soon as it has its ``config.toml``; the rest may be missing, as after a crash.
    """

    def __init__(self, path: Path) -> None:
        """Open a run.

        Raises:
            ConfigError: The folder is missing, or is not a run.
        """
        self.path = Path(path)
        if not self.config_path.is_file():
            no_folder = "it is a file, expected its folder" if self.path.exists() else "there is no such folder"
            what = "it has no config.toml" if self.path.is_dir() else no_folder
            raise ConfigError(f"{self.path} is not a run: {what}")

    @classmethod
    def create(cls, parent: Path, name: str, config: Mapping[str, Any]) -> RunFolder:
        """Make a new folder below ``parent``, never one that exists, and write its ``config.toml``.

        Args:
            parent: Usually ``runs``; made if it is missing.
            name: What the run is about; what a file name cannot hold becomes a hyphen.
            config: The merged configuration: tables of values, dataclasses are welcome.

        Raises:
            ConfigError: The folder cannot be written.
        """
        title = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "run"
        stem = f"{datetime.now():%Y%m%d-%H%M%S}-{title}"
        try:
            path = _make_unused(Path(parent), stem)
        except OSError as error:
            raise ConfigError(f"cannot write a run below {parent}: {error.strerror}") from None
        tables, file = without_none(plain(config)), path / "config.toml"
        if lines := unsaved(file, lambda: file.write_text(tomli_w.dumps(tables), encoding="utf-8")):
            with suppress(OSError):
                path.rmdir()
            raise ConfigError(f"cannot write {lines[0]}")
        return cls(path)

    @property
    def name(self) -> str:
        """Return the name of the folder: time and walk."""
        return self.path.name

    @property
    def config_path(self) -> Path:
        """The merged configuration, TOML."""
        return self.path / "config.toml"

    @property
    def result_path(self) -> Path:
        """The outcome and the key figures, JSON."""
        return self.path / "result.json"

    @property
    def log_path(self) -> Path:
        """All signals, MATLAB v7.3."""
        return self.path / "log.mat"

    @property
    def report_path(self) -> Path:
        """The report, HTML."""
        return self.path / "report.html"

    def read_config(self) -> dict[str, Any]:
        """Return the merged configuration.

        Raises:
            ConfigError: It is not TOML.
        """
        try:
            return tomllib.loads(self.config_path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.config_path} is not valid TOML: {error}") from None

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write the outcome and the key figures; NaN and infinity become null."""
        self.result_path.write_text(json.dumps(plain(result), indent=2) + "\n", encoding="utf-8")

    def read_result(self) -> dict[str, Any]:
        """Return the outcome and the key figures; empty while the run has none.

        Raises:
            ConfigError: The file is not JSON, or not an object.
        """
        if not self.result_path.is_file():
            return {}
        try:
            result = json.loads(self.result_path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigError(f"{self.result_path} is not valid JSON: {error}") from None
        if not isinstance(result, dict):
            raise ConfigError(f"{self.result_path}: expected an object, got {type(result).__name__}")
        return result

    def write_log(
        self,
        log: SignalSource,
        joints: Sequence[str],
        robot_name: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Write all signals, see ``log_files.write_mat``."""
        write_mat(self.log_path, log, joints, robot_name, metadata)

    def read_log(self) -> MatLog:
        """Return all signals.

        Raises:
            ConfigError: The run has no log, or one that cannot be read.
        """
        try:
            return read_mat(self.log_path)
        except LogError as error:
            raise ConfigError(str(error)) from None


def unsaved(path: Path, write: Callable[[], object]) -> list[str]:
    """Write a file; where the disk does not take it, remove the torn file and return one line that says why."""
    try:
        write()
    except OSError as error:
        with suppress(OSError):
            if path.is_file():  # not a device
                path.unlink()
        return [f"{path}: {error.strerror or error}"]
    return []


def unused_path(folder: Path, stem: str, suffix: str = "") -> Path:
    """Return the first path in a folder that is free: comparison.html, comparison-2.html; a dangling link is not."""
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(path for name in names if not os.path.lexists(path := folder / f"{name}{suffix}"))


def _make_unused(parent: Path, stem: str) -> Path:
    """Make a folder of a name that is free, also when others do so at the same time; return its path."""
    parent.mkdir(parents=True, exist_ok=True)
    while True:
        with suppress(FileExistsError):
            (path := unused_path(parent, stem)).mkdir()
            return path
