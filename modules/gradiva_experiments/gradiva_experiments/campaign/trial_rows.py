"""The rows of a campaign on the disk: Parquet parts, and a journal of those that are not yet in one.

Only the driver writes. A row is in the journal as soon as its trial has ended; `_PART` of them become a part, whole or
not at all. A driver that is killed, at any moment, leaves each row once: a torn last line is cut off, and a journal
whose part is there already is dropped.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gradiva.common import ConfigError

KEY = "key"
"""Column that identifies a trial."""
_PART = 2000  # [rows]
_RETRY = 10.0  # [s] between attempts to write to a disk that is full
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_LOST = {errno.EIO, errno.ESTALE, errno.ENOENT, errno.ENOTCONN, errno.EROFS, errno.EHOSTDOWN}


def is_disk_trouble(error: OSError) -> bool:
    """Return whether a disk is full or a share is lost, which passes when somebody helps."""
    return error.errno in _FULL | _LOST


def when_writable(write: Callable[[], object], folder: Path, note: Callable[[str], None]) -> None:
    """Write to a folder; wait while the disk does not take it, and note so once.

    Args:
        write: Raises OSError where it fails; it may be called again then.
        folder: Folder that the note names.
        note: Called with a line that the user should read.

    Raises:
        OSError: An error that does not pass.
    """
    is_paused = False
    while True:
        try:
            write()
            break
        except OSError as error:
            if not is_disk_trouble(error):
                raise
            if not is_paused:
                note(
                    f"paused: {folder} cannot be written: {error.strerror}; tried again every {_RETRY:g} s, "
                    "no row is lost; Ctrl-C ends, the same command goes on later"
                )
            is_paused = True
            time.sleep(_RETRY)
    if is_paused:
        note("the disk can be written again: going on")


class TrialRows:
    """Writes rows to a folder, of which it is the only writer; use it in a ``with`` statement."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, which is made if it is missing, and mend what a killed driver has left.

        Raises:
            ConfigError: It cannot be written, or another driver writes to it.
        """
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / ".lock").open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise ConfigError(f"{folder}: another run writes to it") from None
        except OSError as error:
            raise ConfigError(f"cannot write {folder}: {error.strerror}") from None
        parts, journals = _files(folder, "parquet"), _files(folder, "jsonl")
        for number in set(parts) & set(journals):
            journals.pop(number).unlink()
        self._number = max((*parts, *journals), default=-1) + (not journals)
        self._journal: FileIO | None = None
        self._waiting = _mended(journals[self._number]) if journals else []
        self.keys = {*_keys(parts.values()), *(row[KEY] for row in self._waiting)}

    def __enter__(self) -> TrialRows:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            if self._waiting:
                self._write_part()
        if self._journal is not None:
            self._journal.close()
        self._lock.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row, unless there is one of its key; afterwards it is on the disk.

        Raises:
            OSError: The disk does not take it; nothing of it is left, and it may be added again.
        """
        if row[KEY] in self.keys:
            return
        self._write_line(json.dumps(row, allow_nan=False).encode() + b"\n")
        self._waiting.append(dict(row))
        self.keys.add(row[KEY])
        if len(self._waiting) >= _PART:
            with suppress(OSError):  # the rows are in the journal: the next one tries again
                self._write_part()

    def _write_line(self, line: bytes) -> None:
        journal = self._open_journal()
        size = os.fstat(journal.fileno()).st_size
        try:
            written = journal.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._journal_path))
        except OSError:
            with suppress(OSError):
                os.ftruncate(journal.fileno(), size)
            raise

    @property
    def _journal_path(self) -> Path:
        return self.folder / f"part-{self._number:05d}.jsonl"

    def _open_journal(self) -> FileIO:
        if self._journal is None or not self._journal_path.exists():  # a share that was lost is another file afterwards
            self._journal = FileIO(self._journal_path, "a")
        return self._journal

    def _write_part(self) -> None:
        """Turn the journal into a part: the part is whole before the journal goes."""
        path = self._journal_path.with_suffix(".parquet")
        unfinished = path.with_suffix(".unfinished")
        try:
            pq.write_table(_table(self._waiting), unfinished, compression="zstd")
            _synchronize(unfinished)
            os.replace(unfinished, path)
            _synchronize(self.folder)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        if self._journal is not None:
            self._journal.close()
        self._journal, journal, self._waiting = None, self._journal_path, []
        self._number += 1
        journal.unlink(missing_ok=True)


def _synchronize(path: Path) -> None:
    """Wait until a file, or the names in a folder, would outlast a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a folder, also of one that is written at the moment; empty where there are none.

    A column has one type, whichever part or journal a row is in, see ``with_one_type``.
    """
    parts, lines = _parts_and_lines(folder)
    return with_one_type([*_read_parts(parts), *map(json.loads, lines)])


def row_keys(folder: Path) -> list[str]:
    """Return the key of each row of a folder, also of one that is written at the moment; no other column is read."""
    parts, lines = _parts_and_lines(folder)
    return [*_keys(parts), *(json.loads(line)[KEY] for line in lines)]


def _parts_and_lines(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the parts in order, and the lines of the journals that are none yet; each row is in one of both."""
    while True:
        journals, parts = _files(folder, "jsonl"), _files(folder, "parquet")  # in this order: a journal becomes a part
        left = sorted(set(journals) - set(parts))
        with suppress(FileNotFoundError):  # it has become a part
            texts = [journals[number].read_text(encoding="utf-8") for number in left]
            return [parts[number] for number in sorted(parts)], [line for text in texts for line in _whole_lines(text)]


def with_one_type(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with values of one type in each column: bool, float, else text; None stays."""
    kinds: dict[str, set[type]] = defaultdict(set)
    for row in rows:
        for name, value in row.items():
            kinds[name].add(type(value))
    mixed = {name for name, found in kinds.items() if int in found or len(found - {type(None)}) > 1}
    converters = {name: _converter(kinds[name]) for name in mixed}
    for row in rows:
        row |= {name: convert(row[name]) for name, convert in converters.items() if row.get(name) is not None}
    return rows


def _read_parts(paths: Iterable[Path]) -> Iterable[dict[str, Any]]:
    for path in paths:
        yield from pq.read_table(path).to_pylist()


def _keys(paths: Iterable[Path]) -> Iterable[str]:
    for path in paths:
        yield from pq.read_table(path, columns=[KEY]).column(KEY).to_pylist()


def _files(folder: Path, kind: str) -> dict[int, Path]:
    return {int(path.stem.removeprefix("part-")): path for path in folder.glob(f"part-*.{kind}")}


def _mended(journal: Path) -> list[dict[str, Any]]:
    """Return the rows of a journal, after its torn last line was cut off."""
    text = journal.read_text(encoding="utf-8")
    lines = _whole_lines(text)
    whole = "".join(lines)
    if whole != text:
        os.truncate(journal, len(whole.encode()))
    return [json.loads(line) for line in lines]


def _whole_lines(text: str) -> list[str]:
    return [line for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    """Return rows as columns of one type each: numbers, whether true, else text."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> pa.Array:
    convert = _converter({type(value) for value in values})
    return pa.array([None if value is None else convert(value) for value in values])


def _converter(types: set[type]) -> Callable[[Any], Any]:
    """Return what converts the values of a column to one type; the same ones whatever part of the column it sees."""
    known = types - {type(None)}
    if all(issubclass(kind, bool) for kind in known):
        return bool
    return float if all(issubclass(kind, int | float) and kind is not bool for kind in known) else _as_text


def _as_text(value: Any) -> str:
    """Return a number as text without the point that an integer has in Parquet."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(float(value)).removesuffix(".0") if is_number else str(value)
