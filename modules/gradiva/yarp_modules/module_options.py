"""Options of a module's command line, and the configuration that they select."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from gradiva.common import ConfigError
from gradiva.middleware import yarp
from gradiva.robot_model import Environment, RobotDescription, RobotPorts
from gradiva.setup import Setup, load_setup

CONTEXT = "gradiva"
"""Where ResourceFinder looks for files."""

_PORT = "/NAME"  # metavar of an option whose value is a port


@dataclass(frozen=True, slots=True)
class ModuleOption:
    """Describes an option that only one kind of module has.

    Attributes:
        name: Without the dashes.
        help: Its meaning, with unit and default.
        metavar: Name of its value, ``/NAME`` for (the beginning of) the name of a port; empty for a flag, which
            then is ``"true"`` among the extras.
    """

    name: str
    help: str
    metavar: str = ""


@dataclass(frozen=True, slots=True)
class ModuleOptions:
    """Holds the options that a module was started with.

    Attributes:
        robot: Name of a folder below ``robots/``; empty for modules that need none.
        environment: Simulated robot or the real one.
        name: Prefix of the module's own ports, with its slash; empty for the module's usual one.
        files: ``--from``: TOML laid over the configuration, found where ResourceFinder looks as well.
        overrides: ``--set``: ``table.key=value``.
        context: ResourceFinder's context of ``files``.
        clock: Port of a simulated clock; empty for the machine's (or ``YARP_CLOCK``'s).
        lockstep: One tick for each new sample of the simulator instead of one each period.
        dry_run: Everything but writing to the motors.
        first_run: Lay the ceilings of gains and speeds for first runs over the configuration.
        quiet: Log warnings only.
        verbose: Log details.
        extras: Options of this kind of module alone, by name.
    """

    robot: str = ""
    environment: Environment = Environment.SIMULATION
    name: str = ""
    files: tuple[Path, ...] = ()
    overrides: tuple[str, ...] = ()
    context: str = CONTEXT
    clock: str = ""
    lockstep: bool = False
    dry_run: bool = False
    first_run: bool = False
    quiet: bool = False
    verbose: bool = False
    extras: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, port in (("name", self.name), ("clock", self.clock)):
            if port:
                _check_port(what, port)

    def number(self, extra: str, default: float) -> float:
        """Return an extra option as a number.

        Raises:
            ConfigError: It is none.
        """
        text = self.extras.get(extra)
        try:
            return default if text is None else float(text)
        except ValueError:
            raise ConfigError(f"--{extra} {text}: expected a number") from None


class _Parser(argparse.ArgumentParser):
    """Raises `ConfigError` instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse the options."""
        raise ConfigError(f"{message} (see --help)")


def parse_options(
    arguments: Sequence[str], program: str, summary: str, own: Sequence[ModuleOption] = (), needs_robot: bool = True
) -> ModuleOptions:
    """Return the options on a command line.

    Args:
        arguments: Without the program, in YARP's style, ``--name /x --robot R``, or with ``=``.
        program: For the usage.
        summary: For the help.
        own: Options of this kind of module alone.
        needs_robot: Whether a robot must be named.

    Raises:
        ConfigError: An unknown option, a missing or a wrong value.
        SystemExit: Help was asked for, and printed.
    """
    given = vars(_parser(program, summary, own).parse_args(list(arguments)))
    if needs_robot and not given["robot"]:
        raise ConfigError("which robot? --robot NAME, as in: gradiva robots")
    extras = {option.name: str(given.pop(option.name)) for option in own if given[option.name] is not None}
    for option in own:
        if option.metavar == _PORT and option.name in extras:
            _check_port(option.name, extras[option.name])
    given = {key: value for key, value in given.items() if key not in {option.name for option in own}}
    files, settings = given.pop("from") or (), given.pop("set") or ()
    environment = Environment(given.pop("environment"))
    return ModuleOptions(
        **given, environment=environment, files=tuple(map(Path, files)), overrides=tuple(settings), extras=extras
    )


def _check_port(option: str, port: str) -> None:
    if not port.startswith("/") or port.endswith("/") or any(character in ' \t()"' for character in port):
        raise ConfigError(f"--{option} {port}: expected the name of a port, such as /robot")


def _parser(program: str, summary: str, own: Sequence[ModuleOption]) -> argparse.ArgumentParser:
    parser = _Parser(program, description=summary, allow_abbrev=False)
    add = parser.add_argument
    add("--robot", default="", metavar="ROBOT", help="name of the robot, as in: gradiva robots, or its folder")
    add("--environment", default="simulation", choices=[*Environment], help="simulation (default) or hardware")
    add("--name", default="", metavar=_PORT, help="prefix of this module's own ports")
    add("--from", action="append", metavar="FILE", help="TOML laid over the configuration; may be repeated")
    add("--set", action="append", metavar="TABLE.KEY=VALUE", help="one value, after --from; may be repeated")
    add("--context", default=CONTEXT, help="where ResourceFinder looks for --from")
    add("--clock", default="", metavar="/PORT", help="port of a simulated clock, usually /clock")
    both = argparse.BooleanOptionalAction  # --no-lockstep behind the parameters of an application is real time
    add("--lockstep", action=both, default=False, help="tick once for each new sample of the simulator")
    add("--dry-run", action="store_true", dest="dry_run", help="do everything but write to the motors")
    add("--first-run", action="store_true", dest="first_run", help="low ceilings of gains and speeds")
    add("--quiet", action="store_true", help="print warnings only")
    add("--verbose", action="store_true", help="print details")
    for option in own:
        if option.metavar:
            add(f"--{option.name}", metavar=option.metavar, dest=option.name, help=option.help)
        else:
            add(f"--{option.name}", action="store_const", const="true", dest=option.name, help=option.help)
    return parser


def setup_of(options: ModuleOptions) -> Setup:
    """Return the configuration that a module was started with.

    Raises:
        WalkingError: As `load_setup`, or a file is not found.
    """
    files = [found_file(path, options.context) for path in options.files]
    return load_setup(options.robot, options.overrides, files, options.extras.get("plant"), options.first_run)


def robot_ports(robot: RobotDescription) -> RobotPorts:
    """Return the ports of a robot on the YARP network.

    Raises:
        ConfigError: It has none.
    """
    if robot.ports is None:
        raise ConfigError(f"{robot.name}: robot.toml has no table [ports], it cannot be reached over YARP")
    return robot.ports


def found_file(path: Path, context: str) -> Path:
    """Return ``path`` where it is a file, else the file that ResourceFinder finds by that name in ``context``.

    Raises:
        ConfigError: There is none.
    """
    if path.is_file():
        return path
    finder = yarp.ResourceFinder()
    finder.setQuiet(True)
    finder.setDefaultContext(context)
    finder.configure(["gradiva"])
    found = str(finder.findFileByName(str(path)))
    if not found:
        raise ConfigError(f"--from {path}: no such file, neither here nor in the context {context}")
    return Path(found)
