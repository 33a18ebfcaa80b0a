"""Where a module's files are looked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pureyarp.data.ini import YarpFolders, read_ini

_LOGGER = logging.getLogger("pureyarp")


@dataclass(frozen=True, slots=True)
class ResourceSearch:
    """The folders in which a name is looked for, the first hit wins.

    #. The current directory.
    #. The folder of the main configuration file, if that was named by its path or found in the current directory;
       then contexts are not asked.
    #. ``robots/<robot>/`` and then
    #. ``contexts/<context>/`` below each of YARP's folders, the user's first.
    #. YARP's folders themselves.

    Absolute names, and those that begin with ``./`` or ``../``, are used as they are.

    Attributes:
        folders: The user's and the machine's.
        robot: Name of the robot.
        contexts: Names, the first one first.
        beside: Folder of the main configuration file where step 2 holds.
        path_folders: Further folders, which ``path.d`` files name; asked after the standard ones.
        is_told: Log every place that is looked at.
    """

    folders: YarpFolders
    robot: str = "default"
    contexts: tuple[str, ...] = ()
    beside: Path | None = None
    path_folders: tuple[Path, ...] = field(default=())
    is_told: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> ResourceSearch:
        """Return the search that environment variables and ``path.d`` files describe."""
        folders = YarpFolders.of(environment)
        robot = environment.get("YARP_ROBOT_NAME") or "default"
        return cls(folders, robot, path_folders=_path_folders(folders, environment))

    def in_contexts(self, *contexts: str) -> ResourceSearch:
        """Return the same search in other contexts."""
        return replace(self, contexts=tuple(context for context in contexts if context), beside=None)

    def places(self, name: str) -> Iterator[Path]:
        """Yield the paths that ``name`` could mean, the best first."""
        yield Path.cwd() / name
        if Path(name).is_absolute() or name.startswith(("./", "../")):
            return
        if self.beside is not None:
            yield self.beside / name
        roots = (*self.folders.standard, *self.path_folders)
        yield from (root / "robots" / self.robot / name for root in roots)
        if self.beside is None:
            yield from (root / "contexts" / context / name for context in self.contexts for root in roots)
        yield from (root / name for root in roots)

    def file(self, name: str) -> Path | None:
        """Return the first file ``name``, or None."""
        return next((path for path in self._looked_at(name) if path.is_file()), None)

    def folder(self, name: str) -> Path | None:
        """Return the first folder ``name``, or None."""
        return next((path for path in self._looked_at(name) if path.is_dir()), None)

    def everything(self, name: str) -> Iterator[Path]:
        """Yield every file and folder ``name``, the best first."""
        return (path for path in self._looked_at(name) if path.exists())

    def file_or_folder(self, name: str) -> Path | None:
        """Return the first thing called ``name``, or None; a configuration may be a folder of ini files."""
        return next(self.everything(name), None)

    def _looked_at(self, name: str) -> Iterator[Path]:
        for path in dict.fromkeys(self.places(name)):
            if self.is_told:
                _LOGGER.info("looking for %s: %s", name, path)
            yield path


def _path_folders(folders: YarpFolders, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of ``[search NAME]`` groups with ``path /folder1 /folder2``."""
    found: list[Path] = []
    for file in folders.path_files():
        entries = {str(entry[0]): entry[1:] for entry in read_ini(file, environment) or [] if isinstance(entry, list)}
        for name in entries.get("search", []):
            for line in entries.get(str(name), []):
                if isinstance(line, list) and line[:1] == ["path"]:
                    found += [Path(str(folder)) for folder in line[1:]]
    return tuple(found)
