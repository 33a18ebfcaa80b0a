"""The answers of a 3.x control board: ``[get] [enc] 1`` gives ``[is] [enc] 20.5 [tsta] 4 1700000000.5 [ok]``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import count

from gradiva.middleware.control_board.board_access import COUNTS, BoardAccess, Measured
from gradiva.middleware.control_board.control_board_device import ControlBoardDevice, NotOffered
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import Scope
from gradiva.middleware.control_board.typed_values import integer, joint, number, word
from gradiva.middleware.control_board.vocab_request import VocabRequest
from gradiva.middleware.control_board.vocab_words import UNSTAMPED
from gradiva.middleware.control_board.vocabulary import ControlMode
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, encode_vocab

OK, FAIL, NAK = encode_vocab("ok"), encode_vocab("fail"), encode_vocab("nak")
IS, STAMPED = encode_vocab("is"), encode_vocab("tsta")
PROTOCOL: list[Element] = [encode_vocab("prot"), 1, 9, 0, OK]

# By RPC only these references can be set; the others are streamed.
_SETTABLE_REFERENCES = {
    Feature.TORQUE_REFERENCE: (Scope.ONE, Scope.ALL),
    Feature.VELOCITY_REFERENCE: (Scope.ALL,),
    Feature.POSITION_REFERENCE: (),
    Feature.DUTY_CYCLE_REFERENCE: (),
    Feature.CURRENT_REFERENCE: (),
}
_logger = logging.getLogger("gradiva.yarp")


class VocabAnswers:
    """Answers the requests of ``rpc:i``.

    Args:
        device: What is asked and commanded.
        clock: The time of answers, [s].
    """

    def __init__(self, device: ControlBoardDevice, clock: Callable[[], float]) -> None:
        self._board = BoardAccess(device)
        self._device = device
        self._clock = clock
        self._stamps = count()
        self._calibrations: dict[str, Callable[[Sequence[Element]], object]] = {
            "calj": lambda rest: device.calibrate(joint(rest[0]), integer(rest[1]), _numbers(rest[2:])),
            "cljp": lambda rest: device.calibrate(joint(rest[0]), integer(rest[1]), _numbers(rest[2:])),
            "cald": lambda rest: _must_hold(device.is_calibration_done(joint(rest[0]))),
            "park": lambda rest: device.park(),
        }

    def answer(self, request: list[Element]) -> list[Element]:
        """Return the reply; what the device refuses or cannot do is answered ``[fail]``."""
        if len(request) < 2:
            return [NAK]
        try:
            return self._answer(word(request[0]), request)
        except (NotOffered, MalformedMessage, LookupError, ValueError) as error:
            _logger.debug("control board: %r is refused: %s", request, error)
        except Exception:
            _logger.exception("control board: the device failed at %r", request)
        return [FAIL]

    def _answer(self, verb: str, request: list[Element]) -> list[Element]:
        if verb == "get":
            return self._get(request)
        if verb == "set":
            self._set(request)
        else:
            self._calibrations[verb](request[1:])
        return [OK]

    def _get(self, request: list[Element]) -> list[Element]:
        interface = word(request[1])
        if interface == "prot":
            return list(PROTOCOL)
        stamp = [] if interface in UNSTAMPED else self._stamp()
        if interface == "ivar":
            return [IS, request[1], self._remote_variables(request), OK]
        asked = VocabRequest.of(request, self._board.all_joints)
        values = self._values(asked)
        return [*_echo(asked, request), *values, *stamp, OK]

    def _set(self, request: list[Element]) -> None:
        words = (word(request[1]), word(request[2]) if len(request) > 2 else "")
        if words == ("torq", "trqd"):
            joints = self._board.all_joints
            return self._device.set_control_modes(joints, [ControlMode.TORQUE] * len(joints))
        if words == ("ivar", "mvar"):
            return self._device.set_remote_variable(str(request[3]), request[4:])
        asked = VocabRequest.of(request, self._board.all_joints)
        quantity = asked.what.quantity
        if isinstance(quantity, Measured) or asked.what.scope not in _SETTABLE_REFERENCES.get(quantity, Scope):
            raise MalformedMessage(f"{quantity.name} cannot be set")
        return self._board.write(quantity, asked.joints, asked.values_to_set(quantity), asked.pid)

    def _values(self, asked: VocabRequest) -> list[Element]:
        quantity, form = asked.what.quantity, asked.what.form
        if quantity in COUNTS:
            return [self._board.number_of_axes]
        if quantity is Feature.MOTION_DONE:
            return [int(self._device.is_motion_done(asked.joints))]
        values = self._board.read(quantity, asked.joints, asked.pid)
        if not asked.is_for_one_joint:
            return [list(column) for column in zip(*values, strict=True)] if form.width > 1 else [values]
        return list(values[0]) if form.width > 1 else [values[0]]

    def _remote_variables(self, request: list[Element]) -> list[Element]:
        if word(request[2]) == "lvar":
            return list(self._device.remote_variables())
        return self._device.remote_variable(str(request[3]))

    def _stamp(self) -> list[Element]:
        return [STAMPED, next(self._stamps) & 0x7FFFFFFF, float(self._clock())]


def _echo(asked: VocabRequest, request: list[Element]) -> list[Element]:
    """Return what stands before the values: each interface has its own habit."""
    quantity = asked.what.quantity
    if quantity is Feature.INTERACTION_MODE:
        return []
    if quantity is Feature.JOINT_FAULT:
        return [IS]
    if quantity is Feature.CONTROL_MODE:
        return [IS, request[3] if asked.is_for_one_joint else request[2]]
    return [IS, request[1]]


def _numbers(elements: Sequence[Element]) -> list[float]:
    return [number(element) for element in elements]


def _must_hold(fact: bool) -> None:
    if not fact:
        raise ValueError("not yet")
