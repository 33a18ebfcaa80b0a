"""Find a module's configuration and files: the command line, ini files, and the folders in which YARP looks."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pureyarp.data.ini import YarpFolders, parse_command_line, read_ini
from pureyarp.data.values import Bottle, Searchable, Value
from pureyarp.wire.elements import Element
from pureyarp.wire.text import to_text

_LOGGER = logging.getLogger("pureyarp")
_singleton: ResourceFinder | None = None


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
        is_logged: Log every place that is looked at.
    """

    folders: YarpFolders
    robot: str = "default"
    contexts: tuple[str, ...] = ()
    beside: Path | None = None
    path_folders: tuple[Path, ...] = field(default=())
    is_logged: bool = False

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
            if self.is_logged:
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


_FROM, _CONTEXT = "from", "context"


class ResourceFinder(Searchable):
    """Reads the command line and the configuration file that it names, and finds files where YARP has them.

    ``--from FILE`` names the file, ``--context NAME`` the context in whose folders it is looked for; `ResourceSearch`
    has the order of the folders. What the command line says goes before the file, the file before the defaults.

    Args:
        alt: Another finder, to begin with what it knows.
    """

    def __init__(self, alt: ResourceFinder | None = None) -> None:
        super().__init__()
        self._entries: list[Element] = list(alt._entries) if alt else []
        self._search: ResourceSearch = alt._search if alt else ResourceSearch.of(os.environ)
        self._file: Path | None = alt._file if alt else None
        self._is_configured: bool = alt._is_configured if alt else False
        self._is_quiet: bool = alt._is_quiet if alt else False

    @staticmethod
    def getResourceFinderSingleton() -> ResourceFinder:
        """Return the finder that the whole process may share."""
        global _singleton
        _singleton = _singleton or ResourceFinder()
        return _singleton

    def configure(self, argv: Sequence[str] = (), skipFirstArgument: bool = True) -> bool:
        """Read the command line and the file that it or `setDefaultConfigFile` names.

        Args:
            argv: The program's name and its arguments.
            skipFirstArgument: Whether ``argv`` begins with the program's name.

        Returns:
            False if the user named a file that cannot be read; where it was looked for is in the log.
        """
        if isinstance(argv, str):
            raise TypeError(f"a list of arguments is expected, not {argv!r}")
        arguments = argv[1:] if skipFirstArgument else argv
        of_the_user = Bottle()
        of_the_user.items.extend(parse_command_line(arguments))
        self._search = ResourceSearch.of(os.environ).in_contexts(*self._search.contexts)
        if of_the_user.check(_CONTEXT):
            self._search = self._search.in_contexts(of_the_user.find(_CONTEXT).asString())
        defaults = parse_command_line(arguments, self._entries)
        is_default = not of_the_user.check(_FROM)
        is_read = self._read_main_file(_bottle(defaults).find(_FROM).asString(), arguments, is_default)
        self._is_configured = True
        return is_read or is_default

    def setDefault(self, key: str, val: str | int | float | Value) -> bool:
        """Set the value of ``key`` that holds where neither file nor command line gives one."""
        if not self.check(key):
            value = val if isinstance(val, Value) else Value(val)
            entry = Bottle()
            entry.addString(key)
            entry.add(value)
            self._entries.append(entry.items)
        return True

    def setDefaultConfigFile(self, fname: str) -> bool:
        """Set the file that is read where the user names none."""
        return self.setDefault(_FROM, fname)

    def setDefaultContext(self, contextName: str) -> bool:
        """Set the context that holds where the user names none."""
        self._search = self._search.in_contexts(contextName)
        return True

    def setQuiet(self, quiet: bool = True) -> bool:
        """Say less: not that a default file is missing."""
        self._is_quiet = quiet
        return True

    def setVerbose(self, verbose: bool = True) -> bool:
        """Log every place that is looked at."""
        self._search = replace(self._search, is_logged=verbose)
        return True

    def isConfigured(self) -> bool:
        """Return whether `configure` was called."""
        return self._is_configured

    def find(self, key: str) -> Value:
        """Return the value of ``key``, a null Value if there is none."""
        return _bottle(self._entries).find(key)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return the group ``(key ...)``, an empty Bottle if there is none."""
        return _bottle(self._entries).findGroup(key)

    def toString_c(self) -> str:
        """Return everything as text."""
        return _bottle(self._entries).toString()

    def findNestedResourceFinder(self, key: str) -> ResourceFinder:
        """Return a finder that searches where this one does and knows what the group ``key`` says."""
        nested = ResourceFinder(self)
        nested._entries = list(self.findGroup(key).items[1:])
        return nested

    def findFile(self, name: str) -> str:
        """Return the path of the file that the key ``name``, or without that key ``name`` itself, names; else ""."""
        return self.findFileByName(self._named_by(name))

    def findFileByName(self, name: str) -> str:
        """Return the path of the file ``name``; else ""."""
        return self._text_of(name, self._search.file(name))

    def findPath(self, name: str = "") -> str:
        """Return the folder that the key ``name``, or ``name`` itself, names; without a name that of the main file."""
        if name:
            return self._text_of(name, self._search.folder(self._named_by(name)))
        beside = self._file.parent if self._file is not None else self._search.folder("")
        return str(beside or "")

    def findPaths(self, name: str) -> Bottle:
        """Return every folder and file that the key ``name``, or ``name`` itself, names, the best first."""
        return _bottle([str(path) for path in self._search.everything(self._named_by(name))])

    def getContext(self) -> str:
        """Return the first context."""
        return self._search.contexts[0] if self._search.contexts else ""

    def getContexts(self) -> Bottle:
        """Return all contexts, the first one first."""
        return _bottle(list(self._search.contexts))

    def getHomeContextPath(self) -> str:
        """Return the user's folder of the context, whether it exists or not; that of all contexts without one."""
        return str(self._search.folders.data_home / "contexts" / self.getContext())

    def getHomeRobotPath(self) -> str:
        """Return the user's folder of the robot, whether it exists or not."""
        return str(self._search.folders.data_home / "robots" / self._search.robot)

    def _named_by(self, key: str) -> str:
        return self.find(key).asString() or key

    def _text_of(self, name: str, path: Path | None) -> str:
        if path is None and not self._is_quiet:
            _LOGGER.warning("%s is not found; looked in: %s", name, self._places(name))
        return str(path or "")

    def _places(self, name: str) -> str:
        return ", ".join(str(path.parent) for path in dict.fromkeys(self._search.places(name)))

    def _read_main_file(self, name: str, arguments: Sequence[str], is_default: bool) -> bool:
        """Lay the file ``name`` over the defaults and the command line over both; return whether it could be read."""
        path = self._search.file_or_folder(name) if name else None
        of_the_file = read_ini(path, os.environ, self._find_in_context) if path else None
        if of_the_file is not None and path is not None:
            self._file = path.absolute()
            is_at_hand = path == Path.cwd() / name
            self._search = replace(self._search, beside=path.parent if is_at_hand else None)
            self._entries = _overlaid(self._entries, of_the_file)
        elif name and not (self._is_quiet and is_default):
            _LOGGER.error("the configuration file %s cannot be read; looked for in: %s", name, self._places(name))
        self._entries = parse_command_line(arguments, self._entries)
        return of_the_file is not None

    def _find_in_context(self, context: str, name: str) -> Path | None:
        return self._search.in_contexts(context).file(name)


def _bottle(items: Sequence[Element]) -> Bottle:
    bottle = Bottle()
    bottle.items.extend(items)
    return bottle


def _overlaid(entries: Sequence[Element], others: Sequence[Element]) -> list[Element]:
    """Return the entries of both; those of ``others`` take the place of equal keys."""
    merged = {_key(entry): entry for entry in (*entries, *others)}
    return list(merged.values())


def _key(entry: Element) -> str:
    """Return the name of an entry ``(key v1 v2 ...)``: a string as it is, anything else as printed."""
    name = entry[0] if isinstance(entry, list) and entry else str(entry)
    return name if isinstance(name, str) else to_text([name])
