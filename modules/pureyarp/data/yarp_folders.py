"""Where YARP keeps its files: the user's folders, then the machine's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class YarpFolders:
    """The folders below which ``robots/<name>/`` and ``contexts/<name>/`` are looked for.

    Attributes:
        config_home: The user's configuration; written by tools.
        data_home: The user's data.
        config_dirs: The machine's configuration, the first one first.
        data_dirs: The machine's data, the first one first.
    """

    config_home: Path
    data_home: Path
    config_dirs: tuple[Path, ...]
    data_dirs: tuple[Path, ...]

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> YarpFolders:
        """Return the folders that ``YARP_*``, else ``XDG_*``, else the customs of Linux name."""
        return cls(
            config_home=_home(environment, "CONFIG", ".config"),
            data_home=_home(environment, "DATA", ".local/share"),
            config_dirs=_dirs(environment, "CONFIG", "/etc/xdg"),
            data_dirs=_dirs(environment, "DATA", "/usr/local/share:/usr/share"),
        )

    @property
    def standard(self) -> tuple[Path, ...]:
        """Return the four kinds of folders in the order of search, without those of ``path.d``."""
        return self.config_home, self.data_home, *self.config_dirs, *self.data_dirs

    def path_files(self) -> list[Path]:
        """Return the ini files ``config/path.d/*.ini`` of the machine's data, which name further folders."""
        return [file for folder in self.data_dirs for file in sorted((folder / "config" / "path.d").glob("*.ini"))]

    def find_in_context(self, context: str, name: str) -> Path | None:
        """Return the first file ``contexts/<context>/<name>`` of the standard folders."""
        candidates = (folder / "contexts" / context / name for folder in self.standard)
        return next((path for path in candidates if path.exists()), None)


def _home(environment: Mapping[str, str], kind: str, custom: str) -> Path:
    if own := environment.get(f"YARP_{kind}_HOME"):
        return Path(own)
    if xdg := environment.get(f"XDG_{kind}_HOME"):
        return Path(xdg) / "yarp"
    return Path(environment.get("HOME") or Path.home()) / custom / "yarp"


def _dirs(environment: Mapping[str, str], kind: str, custom: str) -> tuple[Path, ...]:
    if own := environment.get(f"YARP_{kind}_DIRS"):
        return tuple(Path(folder) for folder in own.split(os.pathsep) if folder)
    listed = environment.get(f"XDG_{kind}_DIRS") or custom
    return tuple(Path(folder) / "yarp" for folder in listed.split(os.pathsep) if folder)
