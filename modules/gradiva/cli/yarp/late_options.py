"""Options that stand where a message is expected."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def note_late_options(words: Iterable[str], *options: str) -> None:
    """Tell that an option in a message is sent like any other word of it."""
    for word in words:
        if word.partition("=")[0] in options:
            print(f"note: {word} is sent as part of the message; options stand before PORT", file=sys.stderr)
