"""Walk one robot after the other on a page: ``gradiva play``; where the pages of ``play`` and ``panel`` are served."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradiva.cli.main import leaving_at_once
from gradiva.cli.output import text_console
from gradiva.cli.walk_options import CHOICES, WalkOptions
from gradiva.common import ConfigError, WalkingError
from gradiva.page import LOOPBACK, PageAddress, page_in_its_process
from gradiva.play import InteractiveWalk
from gradiva.setup import Setup, robot_names
from gradiva.simplified_model import balance_law_names
from gradiva.simulated_walk import check_footing, check_slope
from gradiva.simulation import ground_name, ground_names

_FAILED = 1  # exit status


def page_address(port: int, host: str | None, certificate: str | None, key: str | None) -> PageAddress:
    """Return where a page is served, as the command line says.

    Raises:
        ConfigError: The options do not go together, or a file is not there.
    """
    chain, private = (None if file is None else Path(file) for file in (certificate, key))
    return PageAddress(port, LOOPBACK[0] if host is None else host, chain, private)


def play_walks(options: dict[str, Any], address: PageAddress) -> int:
    """Let robots walk until Ctrl-C, the first one by ``options`` of ``gradiva walk``; return the exit status.

    Raises:
        WalkingError: The first one cannot be walked.
    """
    out, console = Path(options.pop("out")), text_console()
    console.print("opening the page: some seconds", style="dim")
    menu = WalkMenu(options)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the page and its memory end as by Ctrl-C
    notice, is_first = "", True
    while True:
        with page_in_its_process(menu.setup.simulated_robot, address) as page:
            try:
                with leaving_at_once():
                    walk = InteractiveWalk(menu.setup, page, menu.seed, out, menu, notice)
            except WalkingError as error:
                if is_first:
                    raise
                notice = menu.give_up(str(error))
                continue
            link = page.link()
            if is_first:
                console.print(f"play    {link}", markup=False, soft_wrap=True)
            walk.run()
        if walk.chosen is None:
            console.print("the page has ended", style="dim")
            return _FAILED
        notice, is_first, address = "", False, replace(address, port=page.port, token=page.token)
        menu.take(walk.chosen)


class WalkMenu:
    """Knows which robots, controllers, plants and grounds may be walked instead of the present ones.

    Attributes:
        setup: Of the present walk.
        seed: Of its noise.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Begin with options of ``gradiva walk``.

        Raises:
            WalkingError: They are wrong.
        """
        self._options = self._former = dict(options)
        self.setup, self.seed = self._setup(self._options), WalkOptions.given(self._options).seed

    def as_table(self) -> Mapping[str, Any]:
        """See ``Menu.as_table``."""
        walking, simulation = self.setup.walking, self.setup.simulation
        present = {
            "robot": (self.setup.robot_argument, robot_names()),
            "control": (str(walking.walking.control), CHOICES["control"]),
            "model": (str(walking.walking.model), balance_law_names()),
            "plant": (str(self.setup.plant), CHOICES["plant"]),
            "ground": (ground_name(simulation.ground.kind), ground_names().values()),
            "step_adaptation": (str(walking.step_adaptation.mode), CHOICES["step_adaptation"]),
        }
        return {
            name: {"value": value, "values": list(dict.fromkeys([value, *values]))}
            for name, (value, values) in present.items()
        }

    def check(self, chosen: Mapping[str, str]) -> None:
        """See ``Menu.check``."""
        self._setup(self._with(chosen))

    def take(self, chosen: Mapping[str, str]) -> None:
        """Make a choice the present one."""
        self._begin(self._with(chosen))

    def give_up(self, reason: str) -> str:
        """Go back to the walk before this one, which cannot begin; return why, for the operator."""
        self._begin(self._former)
        return f"it cannot be walked, here is the former one: {reason}"

    def _begin(self, options: dict[str, Any]) -> None:
        self._former, self._options = self._options, options
        self.setup = self._setup(options)

    def _with(self, chosen: Mapping[str, str]) -> dict[str, Any]:
        known = self.as_table()
        for name, value in chosen.items():
            if value not in known.get(name, {"values": []})["values"]:
                raise ConfigError(f"{name}={value:.40}: no such choice")
        changed = {name: value for name, value in chosen.items() if value != known[name]["value"]}
        return {**self._options, **changed}

    @staticmethod
    def _setup(options: Mapping[str, Any]) -> Setup:
        setup = WalkOptions.given(options).request().setup
        with setup.naming_places():
            check_footing(setup)
            check_slope(setup)
        return setup
