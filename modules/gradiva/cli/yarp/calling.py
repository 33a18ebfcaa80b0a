"""Send commands to a port and print its replies: ``gradiva rpc``."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradiva.cli.yarp.failures import ToolFailure, failure_text, say
from gradiva.cli.yarp.session import check_port_name, living_contact, network_session
from gradiva.common import ConfigError
from gradiva.middleware import NAMED_ERRORS, is_complete, yarp

_LONG_NUMBER = re.compile(r"-?\d+\.\d{13,}(?:e[+-]\d+)?")  # YARP prints 21 digits of what has 17 at most
_PROMPT, _CONTINUED = ">> ", ".. "


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends commands to a port, each over a connection of its own, so that a restarted port is found again.

    Attributes:
        port: Its name.
        carrier: ``tcp`` or ``text_ack``.
        timeout: For a reply, [s].
    """

    port: str
    carrier: str
    timeout: float

    def __post_init__(self) -> None:
        check_port_name(self.port)

    def call(self, command: yarp.Bottle) -> yarp.Bottle:
        """Return the reply.

        Raises:
            ToolFailure: The port is unknown, dead or silent.
            NameServerUnreachable: The name server does not answer.
        """
        contact, reply, style = living_contact(self.port), yarp.Bottle(), yarp.ContactStyle()
        style.carrier, style.timeout, style.quiet, style.expectReply = self.carrier, self.timeout, True, True
        start = time.monotonic()
        is_written = yarp.Network.write(contact, command, reply, style)
        is_late = time.monotonic() - start >= 0.9 * self.timeout  # the bindings then say True, with an empty reply
        if is_written and not (is_late and reply.size() == 0):
            return reply
        living_contact(self.port)
        if is_late:
            raise ToolFailure(f"no reply from {self.port} within {self.timeout:g} s")
        raise ToolFailure(f"{self.port} ended without a reply that can be read")


def call_once(caller: Caller, words: Sequence[str]) -> int:
    """Send one command, print its reply; return the exit status: 1 for a refusal."""
    command = message_of(words)
    if command.size() == 0:
        raise ConfigError("an empty command; without any, gradiva rpc PORT asks for commands")
    with network_session():
        reply = caller.call(command)
        _print_reply(reply)
    return int(is_refusal(reply))


def call_repeatedly(caller: Caller) -> int:
    """Send what is typed or piped, line by line; return 1 if something piped was refused or went unanswered."""
    with network_session():
        living_contact(caller.port)
        is_typed = sys.stdin.isatty() and sys.stdout.isatty()
        if is_typed:
            import readline  # noqa: F401 (input() then edits lines and remembers them)

            say(f"commands to {caller.port}; Ctrl-D ends")
        undone = sum(not _is_done(caller, line) for line in _commands(is_typed))
    return 1 if undone and not is_typed else 0


def _is_done(caller: Caller, line: str) -> bool:
    try:
        reply = caller.call(message_of([line]))
    except NAMED_ERRORS as error:
        say(failure_text(error))
        return False
    _print_reply(reply)
    return not is_refusal(reply)


def _print_reply(reply: yarp.Bottle) -> None:
    for line in reply_lines(reply):
        print(line, flush=True)


def _commands(is_typed: bool) -> Iterator[str]:
    """Yield the commands; a line within an open parenthesis continues on the next one."""
    text = ""
    while True:
        try:
            text += input((_CONTINUED if text else _PROMPT) if is_typed else "")
        except EOFError:
            break
        if not is_complete(text):
            text += "\n"
            continue
        if text.strip():
            yield text
        text = ""
    if text.strip():
        yield text


def message_of(words: Sequence[str]) -> yarp.Bottle:
    """Return the message that words on a command line or a typed line make.

    Raises:
        ConfigError: A quote or parenthesis in it is not closed.
    """
    text = " ".join(words)
    if not is_complete(text):
        raise ConfigError(f"{text.strip()}: a quote or parenthesis is not closed")
    return yarp.Bottle(text)


def is_refusal(reply: yarp.Bottle) -> bool:
    """Return whether a reply begins with ``[fail]``, as those of Gradiva and of YARP's devices do when refused."""
    first = reply.get(0)
    return bool(first.isVocab32()) and int(first.asVocab32()) == yarp.encode("fail")


def reply_lines(reply: yarp.Bottle) -> list[str]:
    """Return the lines of an answer: one, or one for each element after ``[many]``."""
    if reply.size() < 2 or not (reply.get(0).isVocab32() and reply.get(0).asVocab32() == yarp.encode("many")):
        return [_shortened(reply.toString())]
    return [line for index in range(1, reply.size()) for line in _element_lines(reply.get(index))]


def _element_lines(value: yarp.Value) -> list[str]:
    """Return the text of an element; generated services put all their lines into one list."""
    elements = value.asList() if value.isList() else None
    if elements is None:
        return [_bare(value)]
    return [_bare(elements.get(index)) for index in range(elements.size())]


def _bare(value: yarp.Value) -> str:
    return value.asString() if value.isString() else _shortened(value.toString())


def _shortened(text: str) -> str:
    """Return text with numbers of as few digits as tell them apart from others."""
    return _LONG_NUMBER.sub(lambda number: repr(float(number[0])), text)
