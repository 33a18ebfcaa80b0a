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
        persistent: Whether the connection is to outlive its ports.
        persistenceType: One of the four constants: which port's end is the connection's.
        verboseOnSuccess: Log what was done.
    """

    NO_PERSISTENCE: ClassVar[int] = 0
    END_WITH_FROM_PORT: ClassVar[int] = 1
    END_WITH_TO_PORT: ClassVar[int] = 2
    OPENENDED: ClassVar[int] = 0

    admin: bool = False
    quiet: bool = False
    expectReply: bool = True
    timeout: float = -1.0
    carrier: str = ""
    persistent: bool = False
    verboseOnSuccess: bool = True
    persistenceType: int = NO_PERSISTENCE
