"""Write and read logs as MATLAB v7.3 files, export signals as CSV and NPZ, reduce values to those of JSON and TOML."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, Protocol

import h5py
import numpy as np

from gradiva.common import NDArray, nearest_name
from gradiva.telemetry.signal_log import LogError, SignalInfo, SignalLog

ROOT = "robot_logger_device"
TREE = "walking"
_USER_BLOCK = 512  # bytes, the smallest that HDF5 takes; MATLAB reads the first 128
# text, no subsystem, version 2.0, little endian
_HEADER = b"MATLAB 7.3 MAT-file, written by Gradiva, HDF5 schema 1.00 .".ljust(116) + bytes(8) + b"\x00\x02IM"
_LONG = 4096  # numbers; a longer array is compressed
_CHUNK = 1024  # rows that are compressed together, as many as a block of a log has: each chunk is written once
_DRAWN = {f"joints_state::{name}::measured": f"joints_state::{name}" for name in ("positions", "velocities", "torques")}
_NUMBER = "%.9g"  # micrometres of a kilometre, and a tenth of the lines that all digits would need


@dataclass(frozen=True, slots=True, eq=False)
class MatLog:
    """Hold what a log file contains.

    Attributes:
        log: All signals.
        joints: Names, in the order of the joint signals.
        robot_name: Of the robot.
        metadata: Values that were written beside the signals.
    """

    log: SignalLog
    joints: tuple[str, ...]
    robot_name: str
    metadata: dict[str, Any]


class SignalSource(Protocol):
    """Signals over time that are written block by block: a `SignalLog`, or a `JournalReader`, which stays on disk."""

    @property
    def columns(self) -> Mapping[str, slice]:
        """Return the columns of each signal in a row."""
        ...

    def info(self, name: str) -> SignalInfo:
        """Return names and unit of a signal's columns."""
        ...

    def blocks(self) -> Iterator[NDArray]:
        """Yield all rows: time [s], then the columns of all signals, shape (rows, width)."""
        ...

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...


def write_mat(
    path: Path,
    log: SignalSource,
    joints: Sequence[str],
    robot_name: str,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a log; beside what ``log`` itself holds, the memory of one of its blocks is needed.

    Args:
        path: Of the file; replaced if it exists.
        log: All signals.
        joints: Names, in the order of the joint signals.
        robot_name: Of the robot.
        metadata: Anything that JSON can say.

    Raises:
        OSError: The disk does not take it; no torn file stays.
    """
    with (
        _HdfSink(path) as sink,
        h5py.File(sink, "w", userblock_size=_USER_BLOCK, libver="earliest", rdcc_nbytes=0) as file,
    ):
        writer = _MatWriter(file, len(log))
        root = writer.struct(file, ROOT)
        writer.cell(root, "description_list", joints)
        writer.text(root, "yarp_robot_name", robot_name)
        writer.text(root, "metadata", json.dumps(plain(metadata or {})))
        writer.struct(root, TREE)
        for name, columns in log.columns.items():
            for place in (f"{TREE}::{name}", _DRAWN.get(name)):
                if place is not None:
                    writer.signal(root, place, columns, log.info(name))
        writer.list_fields()
        writer.fill(log.blocks())
        sink.header = _HEADER


def read_mat(path: Path) -> MatLog:
    """Read a log that ``write_mat`` wrote.

    Raises:
        LogError: The file is missing, is not HDF5, or holds no walking log.
    """
    try:
        with h5py.File(path, "r") as file:
            root = file[ROOT]
            return MatLog(
                log=_read_log(root[TREE]),
                joints=tuple(_texts(file, root["description_list"], {})),
                robot_name=_text(root["yarp_robot_name"]),
                metadata=json.loads(_text(root["metadata"])),
            )
    except FileNotFoundError:
        raise LogError(f"there is no log {path}") from None
    except (OSError, KeyError, ValueError) as error:
        raise LogError(f"{path} is not a walking log: {error}") from None


class _MatWriter:
    """Writes MATLAB's types into an HDF5 file."""

    def __init__(self, file: h5py.File, rows: int) -> None:
        self._references = file.create_group("#refs#")
        self._texts: dict[str, h5py.Reference] = {}
        self._structs: dict[tuple[int, str], h5py.Group] = {}  # by the group in which they are
        self._rows = rows
        self._tables: list[tuple[h5py.Dataset, slice]] = []  # to be filled, and from which columns of the rows

    def struct(self, parent: h5py.Group, name: str) -> h5py.Group:
        """Return the struct of that name, made if it is not there."""
        group = self._structs.get((id(parent), name))
        if group is None:
            group = self._structs[id(parent), name] = parent.create_group(name)
            _classify(group, b"struct")
        return group

    def numbers(self, parent: h5py.Group, name: str, values: Any) -> None:
        """Write an array."""
        array = np.asarray(values, dtype=np.float64)
        _classify(parent.create_dataset(name, data=array), b"double")

    def table(self, parent: h5py.Group, name: str, shape: tuple[int, ...], columns: slice) -> None:
        """Make an array of one row a sample for `fill`, compressed where it is long."""
        packing: dict[str, Any] = {}
        if math.prod(shape) > _LONG:
            chunks = (min(self._rows, _CHUNK), *shape[1:])
            packing = {"compression": "gzip", "compression_opts": 1, "shuffle": True, "chunks": chunks}
        dataset = parent.create_dataset(name, shape, np.float64, **packing)
        _classify(dataset, b"double")
        self._tables.append((dataset, columns))

    def fill(self, blocks: Iterator[NDArray]) -> None:
        """Write the rows of all samples."""
        begin = 0
        for block in blocks:
            end = begin + len(block)
            for dataset, columns in self._tables:
                dataset[begin:end] = block[:, columns].reshape(len(block), *dataset.shape[1:])
            begin = end

    def text(self, parent: h5py.Group, name: str, text: str) -> h5py.Dataset:
        """Write a row of characters."""
        units = np.frombuffer(text.encode("utf-16-le"), dtype="<u2")[:, None]
        dataset = parent.create_dataset(name, data=units if len(units) else np.zeros(2, np.uint64))
        _classify(dataset, b"char")
        dataset.attrs["MATLAB_int_decode"] = np.int32(2)
        if not len(units):
            dataset.attrs["MATLAB_empty"] = np.uint8(1)
        return dataset

    def cell(self, parent: h5py.Group, name: str, texts: Sequence[str]) -> None:
        """Write a column cell of texts; equal texts are stored once."""
        for text in texts:
            if text not in self._texts:
                self._texts[text] = self.text(self._references, f"t{len(self._texts)}", text).ref
        references = np.array([[self._texts[text] for text in texts]], dtype=h5py.ref_dtype)
        _classify(parent.create_dataset(name, data=references, dtype=h5py.ref_dtype), b"cell")

    def signal(self, root: h5py.Group, place: str, columns: slice, info: SignalInfo) -> None:
        """Make the struct of one signal below ``root``; `fill` writes its samples."""
        group, size = root, columns.stop - columns.start
        for part in place.split("::"):
            group = self.struct(group, part)
        self.table(group, "data", (self._rows, 1, size), columns)
        self.table(group, "timestamps", (self._rows, 1), slice(0, 1))
        self.numbers(group, "dimensions", [[size], [1]])
        self.text(group, "name", place.rpartition("::")[2])
        self.cell(group, "elements_names", info.elements)
        self.cell(group, "units_of_measure", [info.unit] * size)

    def list_fields(self) -> None:
        """Write the attribute MATLAB_fields of all structs."""
        letters = h5py.vlen_dtype(np.dtype("S1"))
        for group in self._structs.values():
            names = [np.array(list(name), dtype="S1") for name in group]
            fields = np.empty(len(names), dtype=letters)
            fields[:] = names
            group.attrs.create("MATLAB_fields", fields, dtype=letters)


def _classify(node: h5py.Group | h5py.Dataset, name: bytes) -> None:
    """Write the attribute MATLAB_class; h5py's own way takes four times as long, and there are hundreds."""
    value = np.array(name)
    kind = h5py.h5t.py_create(value.dtype, logical=True)
    h5py.h5a.create(node.id, b"MATLAB_class", kind, h5py.h5s.create(h5py.h5s.SCALAR)).write(value)


class _HdfSink(io.FileIO):
    """The file below HDF5, which crashes the process when a write fails while it closes.

    After the first error it takes everything and writes nothing; left, it removes the torn file and raises the error.

    Attributes:
        header: Of MATLAB, written at the end.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self._path = path
        self._error: OSError | None = None
        self.header = b""

    def write(self, data: Any) -> int:
        """Write all of a buffer, or note why the disk does not take it; return its length."""
        rest = memoryview(data).cast("B")
        while len(rest) and self._error is None:
            try:
                rest = rest[super().write(rest) :]
            except OSError as error:
                self._error = error
        return memoryview(data).nbytes

    def __exit__(self, *_: object) -> None:
        """Write the header and close the file; remove it where anything of it is missing."""
        self.seek(0)
        self.write(self.header)
        try:
            self.close()
        except OSError as error:  # some disks notice only now that they are full
            self._error = self._error or error
        if self._error is not None:
            self._path.unlink(missing_ok=True)
            raise OSError(self._error.errno, self._error.strerror, str(self._path))


def _read_log(tree: h5py.Group) -> SignalLog:
    found: dict[str, h5py.Group] = {}

    def visit(path: str, node: h5py.Group | h5py.Dataset) -> None:
        """Remember a group that holds a signal."""
        if isinstance(node, h5py.Group) and "data" in node:
            found[path.replace("/", "::")] = node

    tree.visititems(visit)
    times = next(iter(found.values()))["timestamps"][:, 0] if found else np.empty(0)
    log = SignalLog.from_arrays(times, {name: group["data"][:, 0, :] for name, group in found.items()})
    known: dict[bytes, str] = {}
    for name, group in found.items():
        units = _texts(tree.file, group["units_of_measure"], known)
        log.describe(name, _texts(tree.file, group["elements_names"], known), units[0] if units else "")
    return log


def _texts(file: h5py.File, cell: h5py.Dataset, known: dict[bytes, str]) -> list[str]:
    """Return the texts of a cell; those that are ``known`` by their names in the file are not read again.

    Raises:
        ValueError: A reference leads nowhere.
    """
    names: list[bytes] = [h5py.h5r.get_name(reference, file.id) or b"" for reference in cell[0]]
    if b"" in names:
        raise ValueError(f"a text of {cell.name} is not there")
    known |= {name: _text(file[name]) for name in {*names} - known.keys()}
    return [known[name] for name in names]


def _text(dataset: h5py.Dataset) -> str:
    if "MATLAB_empty" in dataset.attrs:
        return ""
    return np.asarray(dataset[:, 0], dtype="<u2").tobytes().decode("utf-16-le")


class ExportFormat(StrEnum):
    """Formats of an export; the value is the suffix of the file as well."""

    CSV = "csv"
    NPZ = "npz"


def export_log(log: SignalLog, path: Path, form: ExportFormat, patterns: Sequence[str] = ()) -> None:
    """Write signals of a log.

    CSV has one row a tick: ``time``, then a column for each element, such as ``dcm::position::measured::x``. NPZ has
    the array ``time``, shape (T,), and one array for each signal, shape (T, n). Units are SI, frames those of the log.

    Args:
        log: Of a run.
        path: Of the file; replaced if it exists.
        form: CSV or NPZ.
        patterns: Names of signals, in which ``*`` stands for any characters; all signals by default.

    Raises:
        LogError: A pattern fits no signal.
        OSError: The file cannot be written.
    """
    names = log.matching(patterns)
    if form is ExportFormat.NPZ:
        np.savez_compressed(path, allow_pickle=False, **{"time": log.times, **{name: log[name] for name in names}})
        return
    header = ",".join(["time", *(column for name in names for column in columns_of(log, name))])
    table = np.column_stack([log.times, *(log[name] for name in names)])
    np.savetxt(path, table, fmt=_NUMBER, delimiter=",", header=header, comments="", encoding="utf-8")


def save_log(log: SignalLog, path: Path) -> Path:
    """Write all signals in the format of the ending, ``.mat``, ``.csv`` or ``.npz``; return the path.

    Raises:
        LogError: The ending is another one, or the file cannot be written.
    """
    form = path.suffix.removeprefix(".")
    if form not in (forms := ["mat", *ExportFormat]):
        raise LogError(f"{path}: no format '{form}'{nearest_name(form, forms)}")
    try:
        if form == "mat":
            write_mat(path, log, (), "")
        else:
            export_log(log, path, ExportFormat(form))
    except OSError as error:
        raise LogError(f"cannot write {path}: {error.strerror}") from None
    return path


def columns_of(log: SignalLog, name: str) -> list[str]:
    """Return the column names of a signal: its own name for a number, one name an element for a vector."""
    elements = log.info(name).elements
    return [name] if len(elements) == 1 else [f"{name}::{element}" for element in elements]


def plain(value: Any) -> Any:
    """Return ``value`` made of dicts, lists, strings, booleans, integers, floats and None.

    Dataclasses and mappings become dicts, arrays and tuples lists, enums their values, paths strings, numbers
    that JSON cannot write (NaN, infinity) None.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def without_none(value: Any) -> Any:
    """Return plain values without the entries that are None, which TOML cannot say."""
    if isinstance(value, dict):
        return {key: without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_none(item) for item in value if item is not None]
    return value
