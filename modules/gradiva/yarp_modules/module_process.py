"""Runs a module as the program of a process; lists the modules."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import cast

from gradiva.common import ConfigError, nearest_name
from gradiva.middleware import follow_clock, yarp
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.module_options import ModuleOptions, parse_options

MODULES: dict[str, str] = {  # title: file:class
    "walking": "walking_module:WalkingModule",
    "planner": "layer_modules:PlannerModule",
    "model_control": "layer_modules:ModelControlModule",
    "whole_body": "layer_modules:WholeBodyModule",
    "logger": "logger.logger_module:LoggerModule",
    "joypad": "joypad.joypad_module:JoypadModule",
    "simulator": "simulator.simulator_module:Simulator",
}
_LOGGER = logging.getLogger("gradiva.module")
_LOG_PERIOD = 5.0  # [s] between two lines while it waits
_LOOK_PERIOD = 0.2  # [s]
_CLOCK_TIMEOUT = 1.0  # [s] for a time of the simulated clock, which may pass slowly, before it is asked for again


def module_class(title: str) -> type[GradivaModule]:
    """Return the class of the module called ``title``.

    Raises:
        ConfigError: There is none.
    """
    if title not in MODULES:
        raise ConfigError(f"there is no module '{title}'{nearest_name(title, MODULES)}")
    file, _, name = MODULES[title].partition(":")
    kind = getattr(importlib.import_module(f"gradiva.yarp_modules.{file}"), name)
    return cast("type[GradivaModule]", kind)


def run_module(kind: type[GradivaModule], arguments: Sequence[str]) -> int:
    """Run a module until it is stopped; return the exit status: 0, or 1 where its ports could not be opened.

    Args:
        kind: Which one.
        arguments: As on the command line, without the program.

    Raises:
        WalkingError: The options or the configuration are wrong, or building a part of the module failed.
        KeyboardInterrupt: Ctrl-C before it had begun.
        SystemExit: Help was asked for.
    """
    options = parse_options(arguments, program_name(kind.TITLE), kind.SUMMARY, kind.OPTIONS, kind.NEEDS_ROBOT)
    set_up_log(options)
    module = kind(options)
    join_network("" if kind.IS_CLOCK else _clock_of(options), kind.IS_CLOCK)
    try:
        status = int(module.runModule(yarp.ResourceFinder()))
    finally:
        yarp.Network.fini()
    if module.failure is not None:
        raise module.failure
    return status


def program_name(title: str) -> str:
    """Return the name of a module's console script."""
    return "gradiva-" + title.replace("_", "-")


def set_up_log(options: ModuleOptions) -> None:
    """Log to standard error."""
    level = logging.WARNING if options.quiet else logging.DEBUG if options.verbose else logging.INFO
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    for noisy in ("matplotlib", "h5py", "trimesh"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def join_network(clock: str = "", is_clock: bool = False) -> None:
    """Wait for the name server, and for the first time of a simulated clock where there is one.

    Args:
        clock: Port of the simulated clock; empty for the machine's, or ``YARP_CLOCK``'s.
        is_clock: Whether this process is the clock of others: it follows the machine's, even if ``YARP_CLOCK`` is set.
    """
    yarp.Network.init(yarp.YARP_CLOCK_SYSTEM)  # the clock may not run yet, see `follow_clock`
    _wait("the name server", yarp.Network.checkNetwork)
    followed = "" if is_clock else clock or os.environ.get("YARP_CLOCK", "")
    if followed:
        _wait(f"the clock {followed}", lambda: follow_clock(followed, _CLOCK_TIMEOUT))


def _clock_of(options: ModuleOptions) -> str:
    """Return the port of the clock to follow: lockstep is with a simulator, whose time is the only one."""
    return options.clock or ("/clock" if options.lockstep else "")


def _wait(for_what: str, is_there: Callable[[], bool]) -> None:
    logged = -float("inf")
    while not is_there():
        if time.monotonic() - logged > _LOG_PERIOD:
            logged = time.monotonic()
            _LOGGER.warning("waiting for %s", for_what)
        time.sleep(_LOOK_PERIOD)
