"""Where the command line begins: as little as can be, so that Ctrl-C finds no import outside ``run``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy comes: its matrices are small, threads only get in the way

_INTERRUPTED = 130  # exit status


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit status: 0 done, 1 fell or failed, 2 wrong input, 130 interrupted."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    try:
        from gradiva.cli.commands import carry_out

        return carry_out(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
