"""A driver of a campaign, as a process that is killed: FILE SCHEDULER FUNCTION."""

import signal
import sys
from pathlib import Path

from gradiva_experiments.campaign.campaign import begin
from gradiva_experiments.campaign.engine import Engine


def main(file, scheduler, function):
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    run = begin(Path(file), Path(file).parent)
    run.note = lambda line: print(line, flush=True)
    run.run(lambda: Engine(function, scheduler))


if __name__ == "__main__":
    main(*sys.argv[1:])
