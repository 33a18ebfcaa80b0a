"""Join the joints of several control boards into one part."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from pureyarp.data.values import Property, Searchable, Value
from pureyarp.devices.control_board_messages import CommandKind
from pureyarp.devices.control_board_protocol import Feature, JointSelection, Verb
from pureyarp.devices.device_ports import text, texts
from pureyarp.devices.remote_control_board import (
    ControlBoard,
    MeasuredJoints,
    RemoteControlBoard,
    RemoteControlBoardOptions,
)
from pureyarp.devices.vocab_dialect import VOCAB_FORMS
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element

_GROUP = "REMOTE_CONTROLBOARD_OPTIONS"
_COUNTS = (Feature.AXES, Feature.MOTORS, Feature.MOTOR_ENCODERS)
Row = tuple[Element, ...]
_log = logging.getLogger("pureyarp")


@dataclass(frozen=True, slots=True)
class ControlBoardRemapperOptions:
    """Options of a part whose joints several boards have.

    Attributes:
        axes: Names of the part's joints, in its order.
        boards: How each board is opened.
    """

    axes: tuple[str, ...]
    boards: tuple[RemoteControlBoardOptions, ...]

    @classmethod
    def read(cls, config: Searchable) -> ControlBoardRemapperOptions:
        """Return what axesNames, remoteControlBoards, localPortPrefix and the group of options say."""
        prefix = text(config, "localPortPrefix")
        remotes = texts(config, "remoteControlBoards")
        common = config.findGroup(_GROUP)
        boards = tuple(RemoteControlBoardOptions.read(_of_one(common, prefix, remote)) for remote in remotes)
        return cls(tuple(texts(config, "axesNames")), boards)


def _of_one(common: Searchable, prefix: str, remote: str) -> Property:
    config = Property()
    for key in ("carrier", "carrier_cmd", "timeout", "writeStrict", "ignoreProtocolCheck", "family"):
        if common.check(key):
            config.put(key, common.find(key))
    config.put("local", Value(prefix + remote))
    config.put("remote", Value(remote))
    return config


@dataclass(frozen=True, slots=True)
class Share:
    """Joints of one board among those of a request.

    Attributes:
        board: Index of the board.
        joints: Indices on that board.
        positions: Where each of them stands among those that are meant.
        is_whole: Whether these are all joints of the board, in its order.
    """

    board: int
    joints: tuple[int, ...]
    positions: tuple[int, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class JointMap:
    """Board and index of each joint of a part.

    Attributes:
        places: Board and joint on it, for each joint of the part.
        sizes: How many joints each board has.
    """

    places: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    _of_all: tuple[Share, ...] = field(init=False, repr=False, compare=False)  # asked for several times a tick

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of_all", tuple(self._shares(range(len(self.places)))))

    def shares(self, of: int | Sequence[int] | None) -> list[Share]:
        """Return what each board has of one joint, all or a group; none, and a line, if there is no such joint."""
        if of is None:
            return list(self._of_all)
        meant = [of] if isinstance(of, int) else of
        unknown = [joint for joint in meant if not 0 <= joint < len(self.places)]
        if unknown:
            _log.error("the part has %d joints, there is no %s", len(self.places), unknown)
            return []
        return self._shares(meant)

    def _shares(self, meant: Sequence[int]) -> list[Share]:
        found: dict[int, list[tuple[int, int]]] = {}
        for position, joint in enumerate(meant):
            board, there = self.places[joint]
            found.setdefault(board, []).append((there, position))
        return [self._share(board, pairs) for board, pairs in found.items()]

    def _share(self, board: int, pairs: list[tuple[int, int]]) -> Share:
        joints = tuple(joint for joint, _ in pairs)
        is_whole = joints == tuple(range(self.sizes[board]))
        return Share(board, joints, tuple(position for _, position in pairs), is_whole)


def row_of_one(feature: Feature, answer: Sequence[Element]) -> Row:
    """Return the row of an answer about one joint: its values, or one list of them where they belong together."""
    return (list(answer),) if VOCAB_FORMS[feature].packed else tuple(answer)


def rows_of_several(answer: Sequence[Element], count: int) -> list[Row] | None:
    """Return the rows of an answer about ``count`` joints; one value for all of them stands for each."""
    columns = [column if isinstance(column, list) else [column] * count for column in answer]
    if any(len(column) != count for column in columns):
        return None
    return list(zip(*columns, strict=True))


def answer_of_rows(feature: Feature, rows: Sequence[Row]) -> list[Element]:
    """Return the answer about several joints that the rows make: a list for each column, or whether all are done."""
    if feature is Feature.MOTION_DONE:
        return [int(all(row[0] for row in rows))]
    return [list(column) for column in zip(*rows, strict=True)]


class ControlBoardRemapper(ControlBoard):
    """A part that is put together from the joints of several boards, which are found by their names.

    What concerns several joints goes to each board once: as a whole if the part has all of its joints in its order,
    else as a group, else, where boards know no groups, joint by joint.
    """

    def __init__(self, options: ControlBoardRemapperOptions) -> None:
        """Prepare; `open` reaches the boards."""
        self._options = options
        self._boards = [RemoteControlBoard(one) for one in options.boards]
        self._map = JointMap((), ())

    @property
    def axes(self) -> int:
        """Return how many joints the part has."""
        return len(self._map.places)

    def open(self) -> None:
        """Reach all boards and find all joints; raise NetworkError and leave nothing open if that fails."""
        opened: list[RemoteControlBoard] = []
        try:
            for board in self._boards:
                board.open()
                opened.append(board)
            self._map = self._joint_map()
        except NetworkError:
            for board in opened:
                board.close()
            raise

    def close(self) -> None:
        """Leave all boards."""
        for board in self._boards:
            board.close()

    def ask(self, feature: Feature, of: JointSelection = None, controller: int | None = None) -> list[Element] | None:
        """Ask every board that has one of the joints, and put the answers together; None if one fails."""
        if feature in _COUNTS:
            return [self.axes]
        shares = self._map.shares(of)
        if isinstance(of, int):
            return self._boards[shares[0].board].ask(feature, shares[0].joints[0], controller) if shares else None
        rows: dict[int, Row] = {}
        for share in shares:
            answered = self._rows(share, feature, controller)
            if answered is None:
                return None
            rows.update(zip(share.positions, answered, strict=True))
        return answer_of_rows(feature, [rows[position] for position in sorted(rows)]) if rows else None

    def order(
        self, feature: Feature, of: JointSelection = None, values: Sequence[Element] = (), controller: int | None = None
    ) -> bool:
        """Order every board that has one of the joints; False if one of them does not agree."""
        shares = self._map.shares(of)
        if isinstance(of, int):
            return bool(shares) and self._board(shares[0]).order(feature, shares[0].joints[0], values, controller)
        agreed = [self._tell(share, feature, values, controller) for share in shares]
        return bool(agreed) and all(agreed)

    def stream(self, kind: CommandKind, of: JointSelection, values: Sequence[float]) -> bool:
        """Send set-points to every board that has one of the joints."""
        sent = [self._stream(share, kind, isinstance(of, int), values) for share in self._map.shares(of)]
        return bool(sent) and all(sent)

    def measured(self, field: str, of: JointSelection = None) -> MeasuredJoints | None:
        """Return the last values of the joints; None if those of one board are too old or not valid."""
        shares = self._map.shares(of)
        joints = sum(len(share.joints) for share in shares)
        values, times = [0.0] * joints, [0.0] * joints
        for share in shares:
            measured = self._board(share).measured(field, share.joints)
            if measured is None:
                return None
            for position, value, time in zip(share.positions, measured.values, measured.times, strict=True):
                values[position], times[position] = value, time
        return MeasuredJoints(values, times) if shares else None

    def _board(self, share: Share) -> RemoteControlBoard:
        return self._boards[share.board]

    def _rows(self, share: Share, feature: Feature, controller: int | None) -> list[Row] | None:
        scope = self._scope(share, Verb.GET, feature)
        if scope != ():
            answer = self._board(share).ask(feature, scope, controller)
            return None if answer is None else rows_of_several(answer, len(share.joints))
        rows: list[Row] = []
        for joint in share.joints:
            answer = self._board(share).ask(feature, joint, controller)
            if answer is None:
                return None
            rows.append(row_of_one(feature, answer))
        return rows

    def _tell(self, share: Share, feature: Feature, values: Sequence[Element], controller: int | None) -> bool:
        scope = self._scope(share, Verb.SET, feature)
        own = [values[position] for position in share.positions] if values else []
        if scope != ():
            return self._board(share).order(feature, scope, own, controller)
        rows = [value if isinstance(value, list) else [value] for value in own] or [[]] * len(share.joints)
        agreed = [
            self._board(share).order(feature, joint, row, controller)
            for joint, row in zip(share.joints, rows, strict=True)
        ]
        return all(agreed)

    def _stream(self, share: Share, kind: CommandKind, is_single: bool, values: Sequence[float]) -> bool:
        board = self._board(share)
        own = [values[position] for position in share.positions]
        if is_single:
            return board.stream(kind, share.joints[0], own)
        if share.is_whole:
            return board.stream(kind, None, own)
        return board.stream(kind, share.joints, own)

    def _scope(self, share: Share, verb: Verb, feature: Feature) -> tuple[int, ...] | None:
        """Return how a board is addressed: None as a whole, a group, or () joint by joint."""
        board = self._board(share)
        if share.is_whole and board.understands(verb, feature, None):
            return None
        return share.joints if board.understands(verb, feature, share.joints) else ()

    def _joint_map(self) -> JointMap:
        places: dict[str, tuple[int, int]] = {}
        for index, board in enumerate(self._boards):
            for joint in range(board.axes):
                places.setdefault(board.axis_name(joint), (index, joint))
        missing = [name for name in self._options.axes if name not in places]
        if missing:
            raise NetworkError(f"no board has the axes {', '.join(missing)}; there are {', '.join(places)}")
        sizes = tuple(board.axes for board in self._boards)
        return JointMap(tuple(places[name] for name in self._options.axes), sizes)
