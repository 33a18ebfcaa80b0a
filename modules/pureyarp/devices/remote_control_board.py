"""A control board in another process."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind, StreamedCommand
from pureyarp.devices.api_arguments import Joints
from pureyarp.devices.complaint import Complaint
from pureyarp.devices.connection_keeper import ConnectionKeeper
from pureyarp.devices.control_board import ControlBoard
from pureyarp.devices.control_board_ports import ControlBoardPorts
from pureyarp.devices.dialect import NotInDialect
from pureyarp.devices.measured import Measured
from pureyarp.devices.remote_control_board_options import RemoteControlBoardOptions
from pureyarp.devices.request import Request, Scope, Verb
from pureyarp.errors import NetworkError
from pureyarp.wire.elements import Element

_log = logging.getLogger("pureyarp")


class RemoteControlBoard(ControlBoard):
    """A control board in another process, reached again whenever that process comes back."""

    def __init__(self, options: RemoteControlBoardOptions, ports: ControlBoardPorts | None = None) -> None:
        """Prepare; `open` reaches the board, through ports of its own unless others are given."""
        self._options = options
        self._dialect = options.dialect
        self._ports = ports or ControlBoardPorts(options)
        self._axes = 0
        self._unheard: defaultdict[str, Complaint] = defaultdict(Complaint)
        self._keeper = ConnectionKeeper(options.remote, self._ports.are_connected, self._reach_again)

    @property
    def axes(self) -> int:
        """Return how many joints the board said it has when it was opened."""
        return self._axes

    def open(self) -> None:
        """Open ports, connect and ask who is there; raise NetworkError and leave nothing open if that fails."""
        try:
            self._ports.open()
            self._ports.connect()
            self._axes = self._introduction()
        except NetworkError:
            self._ports.close()
            raise
        self._keeper.start()

    def close(self) -> None:
        """Leave the board."""
        self._keeper.stop()
        self._ports.close()
        self._keeper.join()

    def ask(self, feature: Feature, of: Scope = None, controller: int | None = None) -> list[Element] | None:
        """Return what the board answers; None, and a line, if it does not or will not."""
        try:
            return self._answer(Request(Verb.GET, feature, of, (), controller))
        except NetworkError as error:
            _log.error("%s: %s", self._options.remote, error)
            return None

    def tell(
        self, feature: Feature, of: Scope = None, values: Sequence[Element] = (), controller: int | None = None
    ) -> bool:
        """Order something; False, and a line, if the board does not agree."""
        try:
            self._answer(Request(Verb.SET, feature, of, values, controller))
        except NetworkError as error:
            _log.error("%s: %s", self._options.remote, error)
            return False
        return True

    def stream(self, kind: CommandKind, of: Joints, values: Sequence[float]) -> bool:
        """Send set-points; False, and a line, if the board takes none of this kind."""
        strict = self._options.strict_single if isinstance(of, int) else self._options.strict_several
        joints = (of,) if isinstance(of, int) else of
        try:
            message = StreamedCommand(kind, joints, tuple(values)).message(self._dialect.family)
        except NetworkError as error:
            _log.error("%s: %s", self._options.remote, error)
            return False
        self._ports.send(message, strict)
        return True

    def measured(self, field: str, of: Joints = None) -> Measured | None:
        """Return values of the last state; None, and a line once, if it is too old or does not have them."""
        state = self._ports.state.fresh(self._options.timeout)
        if state is None or not state.joints.is_valid(field):
            self._unheard[field].say("%s: no valid %s within %g s", self._options.remote, field, self._options.timeout)
            return None
        self._unheard[field].settle()
        values: list[float] = getattr(state.joints, field).tolist()
        return self._chosen(values, of, state.measured_at)

    def understands(self, verb: Verb, feature: Feature, of: Scope) -> bool:
        """Tell whether boards of this family have words for a request."""
        try:
            self._dialect.encode(Request(verb, feature, of))
        except NotInDialect:
            return False
        return True

    def axis_name(self, joint: int) -> str:
        """Return the name of a joint, or raise NetworkError."""
        return str(self._answer(Request(Verb.GET, Feature.AXIS_NAME, joint))[0])

    def _chosen(self, values: list[float], of: Joints, time: float) -> Measured | None:
        if of is None:
            return Measured(values, [time] * len(values))
        joints = (of,) if isinstance(of, int) else of
        if joints and not (min(joints) >= 0 and max(joints) < len(values)):
            _log.error("%s has %d joints, there is no %s", self._options.remote, len(values), of)
            return None
        return Measured([values[joint] for joint in joints], [time] * len(joints))

    def _answer(self, request: Request) -> list[Element]:
        return self._dialect.decode(request, self._ports.ask(self._dialect.encode(request)))

    def _introduction(self) -> int:
        if self._options.checks_protocol:
            self._dialect.check_protocol(self._ports)
        axes = self._answer(Request(Verb.GET, Feature.AXES))[0]
        if not isinstance(axes, int) or axes <= 0:
            raise NetworkError(f"{self._options.remote} says that it has {axes!r} axes")
        self._dialect.introduce(self._ports)
        return axes

    def _reach_again(self) -> bool:
        if not self._ports.board_is_there() or self._keeper.is_stopped:
            return False
        try:
            self._ports.connect()
            axes = self._introduction()
        except NetworkError:
            return False
        if axes != self._axes:
            _log.error("%s came back with %d axes instead of %d", self._options.remote, axes, self._axes)
            self._axes = axes
        return True
