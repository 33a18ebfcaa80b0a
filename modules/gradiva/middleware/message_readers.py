"""What ports call for each message: one answers requests, one takes commands."""

from __future__ import annotations

import logging
from collections.abc import Callable

from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_items, fill_bottle
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import Element, encode_vocab

_logger = logging.getLogger("gradiva.yarp")


class RequestReader(yarp.PortReader):
    """Answers each request of a port with what a function returns, or ``[fail] "message"`` if it raises.

    No exception leaves it: behind the real bindings, a thread of YARP's own would end the process.

    Args:
        answer: From request to reply.
        raw_answers: Answers that no Bottle can hold: int16 numbers without tags, as generated code writes them, for
            requests of a single word.
    """

    def __init__(
        self, answer: Callable[[list[Element]], list[Element]], raw_answers: dict[str, tuple[int, ...]] | None = None
    ) -> None:
        super().__init__()
        self._answer = answer
        self._raw_answers = raw_answers or {}
        self._complaint = RateLimitedLog(_logger)

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one request and answer it."""
        request = yarp.Bottle()
        if not request.read(reader):
            return False
        writer = reader.getWriter()
        raw_answer = self._raw_answers.get(request.get(0).asString()) if request.size() == 1 else None
        if raw_answer is not None:
            return writer is None or _write_raw(raw_answer, writer)
        reply = self._reply_to(request)
        try:
            return writer is None or reply.write(writer)
        except Exception as error:
            self._complaint.warning("the answer to %.80r was not sent: %r", request.toString(), error, trace=True)
            return False

    def _reply_to(self, request: yarp.Bottle) -> yarp.Bottle:
        """Return the answer, or why there is none: one that no Bottle can hold is a failure like any other."""
        reply = yarp.Bottle()
        try:
            fill_bottle(reply, self._answer(as_items(request)))
        except Exception as error:
            self._complaint.warning("the request %.80r was not answered: %r", request.toString(), error, trace=True)
            fill_bottle(reply, [encode_vocab("fail"), str(error) or type(error).__name__])
        return reply


class CommandReader(yarp.PortReader):
    """Hands the values of each message of a port to a function, in their order; what it raises is logged.

    Args:
        take: Called in the thread of the connection.
    """

    def __init__(self, take: Callable[[list[Element]], None]) -> None:
        super().__init__()
        self._take = take
        self._complaint = RateLimitedLog(_logger)

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one message and hand it on."""
        command = yarp.Bottle()
        if not command.read(reader):
            return False
        try:
            self._take(as_items(command))
        except Exception as error:
            self._complaint.warning("the message %.80r was not taken: %r", command.toString(), error, trace=True)
            return False
        return True


def _write_raw(numbers: tuple[int, ...], writer: yarp.ConnectionWriter) -> bool:
    """Write the header of a list of one struct, then the struct's numbers."""
    writer.appendInt32(256)
    writer.appendInt32(1)
    for number in numbers:
        writer.appendInt16(number)
    return not writer.isError()
