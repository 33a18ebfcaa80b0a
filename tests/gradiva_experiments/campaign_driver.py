"""A driver of a campaign of fake walks, as a process that a test kills: FILE SCHEDULER."""

import sys
from pathlib import Path

from gradiva_experiments.campaign.campaign import begin
from gradiva_experiments.campaign.engine import Engine
from tests.gradiva_experiments.fake_trials import WALK


def main(file, scheduler):
    run = begin(Path(file), Path(file).parent)
    run.note = print
    run.run(lambda: Engine(WALK, scheduler))


if __name__ == "__main__":
    main(*sys.argv[1:])
