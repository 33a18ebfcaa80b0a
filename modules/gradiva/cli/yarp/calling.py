"""``gradiva rpc``: commands to a port, and its replies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradiva.cli.yarp.failures import ToolFailure, failure_text, say
from gradiva.cli.yarp.message_text import is_refusal, message_of, reply_lines
from gradiva.cli.yarp.port_search import check_port_name, living_contact
from gradiva.cli.yarp.session import network_session
from gradiva.common import ConfigError
from gradiva.middleware import NAMED_ERRORS, is_complete, yarp

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
