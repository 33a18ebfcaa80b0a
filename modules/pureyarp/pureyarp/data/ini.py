"""Read YARP's configuration: ini files, command lines, folders.

.. code-block:: ini

    key value one                 // (key value one); "key = value one" says the same
    list (1 2 3)                  # (list (1 2 3))
    path ${HOME}/data             // environment, then the top-level keys above, else nothing
    [GROUP]                       // (GROUP (k v) ...); the same header again continues the group, [] ends it
    [LIST name]                   // group "name", and name is appended to (LIST name ...)
    [include "file.ini"]          // at top level; [include GROUP "file.ini"], [include LIST GROUP "file.ini"]
    [import context file.ini]     // from another context

A later value of a key replaces the earlier one. What cannot be read is logged and left out.

Command lines and the folders in which YARP looks for its files are read here, too.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pureyarp.errors import MalformedMessage
from pureyarp.wire import Element, from_text, to_text

ContextFinder = Callable[[str, str], Path | None]  # context and file name

_LOGGER = logging.getLogger("pureyarp")
_DEEPEST_INCLUDE = 32


def parse_ini(
    text: str,
    environment: Mapping[str, str],
    folder: Path | None = None,
    find_in_context: ContextFinder | None = None,
) -> list[Element]:
    """Return the entries of ``text`` as ``(key v1 v2 ...)`` and ``(GROUP (key v1 ...) ...)``.

    Args:
        text: Of the file.
        environment: Variables, before the keys of the file itself.
        folder: Where included files are looked for; the current directory when None.
        find_in_context: Where ``[import context file]`` finds its file; YARP's usual folders when None.
    """
    reader = IniReader(environment, find_in_context)
    reader.read_text(text, folder or Path())
    return reader.document.elements()


def read_ini(
    path: Path, environment: Mapping[str, str], find_in_context: ContextFinder | None = None
) -> list[Element] | None:
    """Return the entries of a file, or of every ``*.ini`` of a directory; None if it cannot be read."""
    reader = IniReader(environment, find_in_context)
    return reader.document.elements() if reader.read_path(path) else None


class IniReader:
    """Reads texts and files into one document.

    Args:
        environment: Variables, before the keys of the document.
        find_in_context: Path of a file in another context.
        depth: Of this file below the first one.
        outer: The reader of the including file, whose keys are visible here.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        find_in_context: ContextFinder | None,
        depth: int = 0,
        outer: IniReader | None = None,
    ) -> None:
        self.document = IniDocument()
        self._environment = environment
        self._find_in_context = find_in_context or YarpFolders.of(environment).find_in_context
        self._depth = depth
        self._outer = outer

    def read_path(self, path: Path) -> bool:
        """Read a file, or every ``*.ini`` of a directory by its name; return whether there was something to read."""
        if not path.is_dir():
            return self._read_file(path)
        were_read = [self._read_file(file) for file in sorted(path.glob("*.ini"))]  # all of them, also after a failure
        return bool(were_read) and all(were_read)

    def read_text(self, text: str, folder: Path) -> None:
        """Read the lines of ``text``; files that it includes are looked for in ``folder``."""
        self.document.open_group("")
        for line in logical_lines(text):
            try:
                self._read_line(expand_variables(line, self._variable), folder)
            except MalformedMessage as error:
                _LOGGER.error("ini: a line is left out: %s", error)
        self.document.open_group("")

    def _read_file(self, path: Path) -> bool:
        try:
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
        except (OSError, ValueError) as error:  # a ValueError for a name that no file can have
            _LOGGER.error("cannot read %s: %s", path, getattr(error, "strerror", error))
            return False
        self.read_text(text, path.parent)
        return True

    def _read_line(self, line: str, folder: Path) -> None:
        if line.startswith("["):
            self._read_header(line[1:].partition("]")[0], folder)
            return
        entry = from_text(line)
        if len(entry) > 1 and entry[1] == "=":
            del entry[1]
        if entry:
            self.document.put(entry)

    def _read_header(self, header: str, folder: Path) -> None:
        words = [entry_name(element) for element in from_text(header)]
        if len(words) > 1 and words[0] == "include":
            self._include(words[1:-1], folder / words[-1])
        elif len(words) > 2 and words[0] == "import":
            self._import(words[1], words[-1])
        elif len(words) > 1:
            self.document.append_to_list(words[0], words[1])
            self.document.open_group(words[1])
        else:
            self.document.open_group(header)  # with its blanks

    def _import(self, context: str, name: str) -> None:
        path = self._find_in_context(context, name)
        if path is None:
            _LOGGER.error("ini: [import %s %s]: there is no such file in this context", context, name)
        else:
            self._include([], path)

    def _include(self, names: list[str], path: Path) -> None:
        """Read ``path`` at the top level or, with ``[GROUP]`` or ``[LIST, GROUP]``, as the contents of a group."""
        self.document.open_group("")
        if self._depth >= _DEEPEST_INCLUDE:
            _LOGGER.error("ini: %s is included %d files deep: does it include itself?", path, self._depth)
            return
        reader = IniReader(self._environment, self._find_in_context, self._depth + 1, outer=self)
        if not reader.read_path(path):
            return
        if len(names) > 1:
            self.document.append_to_list(names[0], names[-1])
        self.document.open_group(names[-1] if names else "")
        self.document.put_all(reader.document.elements())
        self.document.open_group("")

    def _variable(self, name: str) -> str:
        if name in self._environment:
            return self._environment[name]
        value = self.document.value(name)
        if value is not None:
            return value
        return self._outer._variable(name) if self._outer else ""


_BLANKS = " \t"


class _OpenEnds:
    """Counts what a line leaves open: a quote, how many parentheses or braces, and a backslash at its end."""

    def __init__(self) -> None:
        self.quoted = False
        self.depth = 0
        self.ends_in_backslash = False

    @property
    def are_there(self) -> bool:
        """Whether a quote, a list or a line goes on."""
        return self.quoted or self.depth > 0 or self.ends_in_backslash

    def feed(self, character: str) -> None:
        """Count a character."""
        if character == '"':
            self.quoted = not self.quoted
        elif not self.quoted and character in "({":
            self.depth += 1
        elif not self.quoted and character in ")}":
            self.depth = max(0, self.depth - 1)


def logical_lines(text: str) -> Iterator[str]:
    """Yield the logical lines of ``text``: comments cut off, continued lines joined, empty lines left out.

    ``//`` outside quotes and ``#`` at the beginning or after a blank start a comment. A line that leaves a quote or a
    parenthesis open, or ends in a backslash, goes on in the next one with nothing between them, as in YARP: indent
    the next line. One that is still open at the end is handed on as it is.
    """
    open_ends = _OpenEnds()
    parts: list[str] = []
    beginning = 0
    for number, line in enumerate(text.splitlines(), start=1):
        beginning = beginning if parts else number
        parts.append(_without_comment(line, open_ends))
        if not open_ends.are_there:
            yield from _unless_empty("".join(parts))
            parts = []
    if parts:
        _LOGGER.warning("ini: the quote or parenthesis opened in line %d is never closed", beginning)
        yield from _unless_empty("".join(parts))


def _unless_empty(line: str) -> Iterator[str]:
    if stripped := line.strip():
        yield stripped


def _without_comment(line: str, open_ends: _OpenEnds) -> str:
    is_protected = open_ends.ends_in_backslash = False
    for index, character in enumerate(line):
        if is_protected:
            is_protected = False
        elif character == "\\":
            is_protected = True
        elif not open_ends.quoted and _begins_comment(line, index):
            return line[:index]
        else:
            open_ends.feed(character)
    open_ends.ends_in_backslash = is_protected
    return line[:-1] if is_protected else line


def _begins_comment(line: str, index: int) -> bool:
    if line[index] == "#":
        return index == 0 or line[index - 1] in _BLANKS
    return line.startswith("//", index)


_REFERENCE = re.compile(r"\\(?P<protected>.)|\$(?:\{(?P<brace>[^}]*)\}|\((?P<paren>[^)]*)\)|(?P<bare>\w+))", re.DOTALL)


def expand_variables(line: str, value_of: Callable[[str], str]) -> str:
    r"""Return ``line`` with every reference replaced by ``value_of(name)``; ``\$`` stays a dollar sign."""
    return _REFERENCE.sub(lambda reference: _replacement(reference, value_of), line)


def _replacement(reference: re.Match[str], value_of: Callable[[str], str]) -> str:
    protected = reference["protected"]
    if protected is not None:
        return "$" if protected == "$" else reference[0]  # the Bottle's text form handles other escapes
    return value_of(reference["brace"] or reference["paren"] or reference["bare"] or "")


Entry = list[Element]  # (key v1 v2 ...) or (GROUP (key v1 ...) ...)


def entry_name(element: Element) -> str:
    """Return ``element`` as the name of a key: a string as it is, anything else as printed."""
    return element if isinstance(element, str) else to_text([element])


class IniDocument:
    """Holds entries by name in the order of their first appearance, and the group that lines go into."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._groups: dict[str, dict[str, Entry]] = {}
        self._group = ""

    def open_group(self, name: str) -> None:
        """Put the next entries into the group ``name``; an empty name means the top level."""
        self._group = name
        if name and name not in self._groups:
            self._groups[name] = {}
            self._entries[name] = [name]  # a group takes the place of a key of that name

    def put(self, entry: Entry) -> None:
        """Put ``(key v1 v2 ...)`` into the group of the last header."""
        key = entry_name(entry[0])
        if self._group:
            self._groups[self._group][key] = entry
        else:
            self._groups.pop(key, None)
            self._entries[key] = entry

    def put_all(self, entries: Iterable[Element]) -> None:
        """Enter the entries of another text."""
        for entry in entries:
            if isinstance(entry, list) and entry:
                self.put(entry)

    def append_to_list(self, list_name: str, member: str) -> None:
        """Append ``member`` to ``(LIST member ...)`` at the top level."""
        entry = self._entries.setdefault(list_name, [list_name])
        if member not in entry[1:]:
            entry.append(member)

    def value(self, key: str) -> str | None:
        """Return the first value of a top-level key as text, or None."""
        entry = self._entries.get(key)
        if entry is None or key in self._groups or len(entry) < 2:
            return None
        return entry_name(entry[1])

    def elements(self) -> list[Element]:
        """Return ``(key v1 ...)`` and ``(GROUP (key v1 ...) ...)``."""
        result: list[Element] = []
        for key, entry in self._entries.items():
            result.append([*entry, *self._groups.get(key, {}).values()])
        return result


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


_GROUP_SEPARATOR = "::"


def parse_command_line(arguments: Sequence[str], entries: Sequence[Element] = ()) -> list[Element]:
    """Return ``entries`` overlaid by the options: ``(key v1 v2 ...)`` or, for ``--group::key v``, ``(group (key v))``.

    Every argument up to the next ``--key`` is a value in the text form of Bottles, where one with blanks that begins
    with no quote or bracket is a string. What stands before the first key is ignored.

    Args:
        arguments: Without the program's name.
        entries: Of a configuration file; the command line replaces its keys, within groups as well.
    """
    result = list(entries)
    values: list[Element] = []
    for argument in arguments:
        if argument.startswith("--") and len(argument) > 2:
            values = _put(result, argument[2:].split(_GROUP_SEPARATOR))
        else:
            values += _values(argument)
    return result


def _put(entries: list[Element], path: list[str]) -> list[Element]:
    """Make the entry at ``path`` anew and return it."""
    key, *rest = path
    index, old = _entry(entries, key)
    entry: list[Element] = [*old] if rest else [key]
    entries[index : index + 1] = [entry]
    return _put(entry, rest) if rest else entry


def _entry(entries: list[Element], key: str) -> tuple[int, list[Element]]:
    """Return place and contents of the entry ``(key ...)``; the end and ``(key)`` if there is none."""
    for index, entry in enumerate(entries):
        if isinstance(entry, list) and entry and entry_name(entry[0]) == key:
            return index, entry
    return len(entries), [key]


def _values(argument: str) -> list[Element]:
    is_sentence = any(character.isspace() for character in argument) and argument[0] not in '"([{'
    try:
        return ([] if is_sentence else from_text(argument)) or [argument]
    except MalformedMessage:
        return [argument]
