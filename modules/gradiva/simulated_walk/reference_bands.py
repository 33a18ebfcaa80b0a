"""Finds which figures are usual for a robot: those of known good walks, from ``results/reference_bands*.json``.

``gradiva experiment reference_bands --publish`` walks and writes these files. A robot of one's own has the file in the
folder of its ``robot.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError
from gradiva.planner import Command, VelocityCommand
from gradiva.setup import Setup, data_folder, robot_folder
from gradiva.simulated_walk.first_sign import HEALTHY_ERRORS
from gradiva.simulation import GroundKind
from gradiva.telemetry import KEY_FIGURES, TRACKING_FIGURES

_FILES = "reference_bands*.json"
_WITHOUT_BANDS = ("mpc", "stability_margins")  # figures of one law, of the configuration alone
BAND_FIGURES = tuple(
    figure
    for figure in (*TRACKING_FIGURES, *KEY_FIGURES)
    if figure.better < 0 and not figure.ground and figure.key.partition(".")[0] not in _WITHOUT_BANDS
)
"""Figures that have bands: the less, the better."""
_DURATIONS = 8.0, 15.0  # [s] comparable with 10: start and stop are more of a shorter walk, drift grows in a longer one
_SPREADS = 0.5  # a figure is unusual beyond the greatest of known walks by this part of their spread, and by the next
_OF_RMS, _OF_OTHERS = 0.1, 0.5  # of the greatest: an rms is a mean of many ticks, others are those of one tick or event


@dataclass(frozen=True, slots=True)
class ReferenceBand:
    """Figures of known good walks straight ahead on rigid level ground, of 10 s, of a robot as shipped.

    Attributes:
        robot: Name.
        plant: Simulated robot.
        control: Mode.
        slowest: Of the commanded speeds, [m/s].
        fastest: Likewise.
        walks: Number.
        figures: Least, median and greatest value by the key of a figure in ``result.json``.
    """

    robot: str
    plant: str
    control: str
    slowest: float
    fastest: float
    walks: int
    figures: Mapping[str, tuple[float, float, float]]

    def as_table(self) -> dict[str, Any]:
        """Return a row of the published file."""
        return asdict(self)

    def is_of(self, setup: Setup) -> bool:
        """Return whether robot, plant and control mode are those of a walk."""
        walk = (setup.robot.name, str(setup.plant), str(setup.walking.walking.control))
        return walk == (self.robot, self.plant, self.control)

    def usual(self) -> dict[str, Any]:
        """Return the part of ``result.json``: ``of`` says which walks, ``figures`` has least, most, unusual from."""
        return {
            "of": f"{self.walks} good walks as shipped, without pushes, {self.plant} plant, {self.control} control, "
            f"{self.slowest:g} to {self.fastest:g} m/s",
            "figures": {
                key: {"least": least, "most": most, "unusual": _unusual_from(key, least, most)}
                for key, (least, _, most) in self.figures.items()
            },
        }


def _unusual_from(key: str, least: float, most: float) -> float:
    fraction = _OF_RMS if key.endswith(".rms") else _OF_OTHERS
    return most + max(_SPREADS * (most - least), fraction * most)


def usual_figures(setup: Setup, command: Command, has_own_tasks: bool = False) -> dict[str, Any]:
    """Return what is usual for a walk; where no known walks are like it, ``of`` says why and ``figures`` is empty.

    A file that cannot be read loses no walk: ``of`` says so.

    Args:
        setup: Robot, controller, plant.
        command: Where to.
        has_own_tasks: Whether layer 3 has tasks beside those of walking.
    """
    if difference := _difference(setup, command, has_own_tasks):
        return _none(f"the known walks are of 10 s straight ahead on rigid level ground, {difference}")
    assert isinstance(command, VelocityCommand)
    try:
        return _usual_at(command.forward, setup) | {"is_pushed": bool(setup.simulation.pushes)}
    except (AttributeError, ConfigError, LookupError, TypeError, ValueError) as error:
        return _none(f"{_FILES} cannot be read: {error!r}")


def _usual_at(speed: float, setup: Setup) -> dict[str, Any]:
    """Return what is usual of a robot by the band in whose middle a speed [m/s] is, or which speeds are known."""
    known = [band for band in _bands(setup.robot_argument) if band.is_of(setup)]
    if found := [band for band in known if band.slowest <= speed <= band.fastest]:
        return min(reversed(found), key=lambda band: abs(speed - 0.5 * (band.slowest + band.fastest))).usual()
    walk = f"{setup.robot.name}, {setup.plant} plant, {setup.walking.walking.control} control"
    if not known:
        return _none(f"no walks of {walk}, are on record; gradiva experiment reference_bands walks them")
    return _none(f"the known walks of {walk}, are of {_speeds(known)}, this one is of {speed:g} m/s")


def _speeds(bands: Sequence[ReferenceBand]) -> str:
    """Return the commanded speeds of bands in words, as ranges that do not overlap."""
    ranges: list[tuple[float, float]] = []
    for slowest, fastest in sorted((band.slowest, band.fastest) for band in bands):
        if ranges and slowest <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(fastest, ranges[-1][1])
        else:
            ranges.append((slowest, fastest))
    return " and ".join(f"{slowest:g} to {fastest:g} m/s" for slowest, fastest in ranges)


def _difference(setup: Setup, command: Command, has_own_tasks: bool) -> str:
    """Return in what a walk differs from the known ones of any robot; empty where in nothing."""
    if not isinstance(command, VelocityCommand) or (command.lateral, command.angular) != (0.0, 0.0):
        return "this one goes elsewhere"
    if setup.simulation.ground.kind != GroundKind.RIGID or setup.simulation.ground.steepness != 0.0:
        return "this one on other ground"
    if not _DURATIONS[0] <= (command.duration or 0.0) <= _DURATIONS[1]:
        return f"this one lasts {command.duration or 0.0:g} s"
    return "this one has tasks of its own" if has_own_tasks else ""


def _none(why: str) -> dict[str, Any]:
    return {"of": f"nothing to compare with: {why}", "figures": {}}


def healthy_errors(setup: Setup) -> dict[str, float]:
    """Return up to where tracking errors are healthy, [m], by the names of the figures in ``result.json``.

    That is the greatest of the robot's known good walks on the plant, at least the bound of the diagnosis: an error
    that lasts beyond that is the first sign of a fall, a good walk passes it for moments, as the ZMP at a touch-down.
    """
    errors = {f"{quantity}_error_m.max": bound for quantity, bound in HEALTHY_ERRORS.items()}
    with suppress(AttributeError, ConfigError, LookupError, TypeError, ValueError):  # usual_figures says so
        bands, walk = _bands(setup.robot_argument), (setup.robot.name, str(setup.plant))
        for band in (band for band in bands if (band.robot, band.plant) == walk):
            errors = {key: max(bound, band.figures.get(key, (0.0, 0.0, 0.0))[-1]) for key, bound in errors.items()}
    return errors


def _bands(robot: str) -> Iterator[ReferenceBand]:
    """Yield the bands of all files, those of the folder of the robot last, of one folder the youngest."""
    for folder in (data_folder("results"), robot_folder(robot)):
        files = [(path, _read(path)) for path in folder.glob(_FILES)]
        for _, content in sorted(files, key=lambda each: (each[1]["date"], each[0].name)):
            yield from (_band(row) for row in content["rows"] if row["outcome"] == "met")


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return content


def _band(row: Mapping[str, Any]) -> ReferenceBand:
    return ReferenceBand(**{field.name: row[field.name] for field in fields(ReferenceBand)})
