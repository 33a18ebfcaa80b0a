"""Carry out ``gradiva play``: a walk in this process, its page in another."""

from __future__ import annotations

import signal
from pathlib import Path

from gradiva.cli.main import leaving_at_once
from gradiva.cli.output import text_console
from gradiva.cli.walk_options import WalkOptions
from gradiva.play import InteractiveWalk, page_in_its_process
from gradiva.simulated_walk import check_footing, check_slope


def play_until_closed(options: WalkOptions, out: Path, port: int) -> int:
    """Let robots be driven until Ctrl-C or the end of the page; return the exit status.

    Raises:
        WalkingError: An option is wrong, or the page cannot be opened.
    """
    setup, console = options.request().setup, text_console()
    with setup.naming_places():
        check_footing(setup)
        check_slope(setup)
    with console.status("opening the page"), page_in_its_process(setup.simulated_robot, port) as page:
        with leaving_at_once():
            walk = InteractiveWalk(setup, page, options.seed, out)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the page and its memory end as by Ctrl-C
        console.print(f"play    {page.link()}", markup=False, soft_wrap=True)
        walk.run()
    console.print("the page has ended", style="dim")
    return 1
