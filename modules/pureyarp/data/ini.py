r"""YARP's ini files.

.. code-block:: ini

    key value one                 // (key value one); "key = value one" says the same
    list (1 2 3)                  # (list (1 2 3))
    path ${HOME}/data             // environment, then the top-level keys above, else nothing
    [GROUP]                       // (GROUP (k v) ...); the same header again continues the group, [] ends it
    [LIST name]                   // group "name", and name is appended to (LIST name ...)
    [include "file.ini"]          // at top level; [include GROUP "file.ini"], [include LIST GROUP "file.ini"]
    [import context file.ini]     // from another context

A later value of a key replaces the earlier one. What cannot be read is told in the log and left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from pureyarp.data.ini_document import IniDocument, key_text
from pureyarp.data.ini_lines import logical_lines
from pureyarp.data.ini_variables import expand_variables
from pureyarp.data.yarp_folders import YarpFolders
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element
from pureyarp.wire.text import from_text

ContextFinder = Callable[[str, str], Path | None]  # context and file name

_LOGGER = logging.getLogger("pureyarp")
_DEEPEST_INCLUDE = 32


def parse_ini(
    text: str,
    environment: Mapping[str, str],
    folder: Path | None = None,
    find_in_context: ContextFinder | None = None,
) -> list[Element]:
    """Return what ``text`` says as ``(key v1 v2 ...)`` and ``(GROUP (key v1 ...) ...)``.

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
    """Return what the file ``path``, or every ``*.ini`` of the directory ``path``, says; None if it cannot be read."""
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
        words = [key_text(element) for element in from_text(header)]
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
