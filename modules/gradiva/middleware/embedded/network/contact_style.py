"""How a peer is to be contacted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(slots=True)
class ContactStyle:
    """How a peer is to be contacted.

    Attributes:
        admin: Speak to the port itself, not to its owner.
        quiet: Failures are not logged.
        expectReply: Wait for an answer.
        timeout: Of the whole exchange, [s]; negative waits as long as it takes.
        carrier: Empty chooses the usual one.
        persistent: One of the four constants; kept for the bindings' sake, connections are not made persistent.
        verboseOnSuccess: Log what was done.
    """

    NO_PERSISTENCE: ClassVar[int] = 0
    END_WITH_FROM_PORT: ClassVar[int] = 1
    END_WITH_TO_PORT: ClassVar[int] = 2
    OPENENDED: ClassVar[int] = 4

    admin: bool = False
    quiet: bool = False
    expectReply: bool = True
    timeout: float = -1.0
    carrier: str = ""
    persistent: int = 0
    verboseOnSuccess: bool = True
