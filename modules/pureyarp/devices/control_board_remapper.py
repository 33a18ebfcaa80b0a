"""A part that is put together from the joints of several boards."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.api_arguments import Joints
from pureyarp.devices.control_board import ControlBoard
from pureyarp.devices.control_board_remapper_options import ControlBoardRemapperOptions
from pureyarp.devices.joint_map import JointMap, Share
from pureyarp.devices.joint_rows import Row, answer_of_rows, row_of_one, rows_of_several
from pureyarp.devices.measured import Measured
from pureyarp.devices.remote_control_board import RemoteControlBoard
from pureyarp.devices.request import Verb
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element

_log = logging.getLogger("pureyarp")

_COUNTS = (Feature.AXES, Feature.MOTORS, Feature.MOTOR_ENCODERS)


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

    def ask(self, feature: Feature, of: Joints = None, controller: int | None = None) -> list[Element] | None:
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

    def tell(
        self, feature: Feature, of: Joints = None, values: Sequence[Element] = (), controller: int | None = None
    ) -> bool:
        """Order every board that has one of the joints; False if one of them does not agree."""
        shares = self._map.shares(of)
        if isinstance(of, int):
            return bool(shares) and self._board(shares[0]).tell(feature, shares[0].joints[0], values, controller)
        agreed = [self._tell(share, feature, values, controller) for share in shares]
        return bool(agreed) and all(agreed)

    def stream(self, kind: CommandKind, of: Joints, values: Sequence[float]) -> bool:
        """Send set-points to every board that has one of the joints."""
        sent = [self._stream(share, kind, isinstance(of, int), values) for share in self._map.shares(of)]
        return bool(sent) and all(sent)

    def measured(self, field: str, of: Joints = None) -> Measured | None:
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
        return Measured(values, times) if shares else None

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
            return self._board(share).tell(feature, scope, own, controller)
        rows = [value if isinstance(value, list) else [value] for value in own] or [[]] * len(share.joints)
        agreed = [
            self._board(share).tell(feature, joint, row, controller)
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
