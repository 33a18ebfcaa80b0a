"""Finds which figures are usual for a robot: those of known good walks, from ``results/reference_bands*.json``.

``gradiva experiment reference_bands --publish`` walks and writes these files. A robot of one's own has the file in the
folder of its ``robot.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from gradiva.common import ConfigError
from gradiva.planner import Command, VelocityCommand
from gradiva.setup import Setup, data_folder, robot_folder
from gradiva.simulation import GroundKind
from gradiva.telemetry import KEY_FIGURES, TRACKING_FIGURES

_FILES = "reference_bands*.json"
_MACHINE = ("tick_us", "mpc", "stability_margins")  # figures of the computer, of one law, of the configuration alone
BAND_FIGURES = tuple(
    figure
    for figure in (*TRACKING_FIGURES, *KEY_FIGURES)
    if figure.better < 0 and not figure.ground and figure.key.partition(".")[0] not in _MACHINE
)
"""Figures that have bands: the less, the better."""
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

    def is_of(self, setup: Setup, speed: float) -> bool:
        """Return whether a walk is comparable."""
        walk = (setup.robot.name, str(setup.plant), str(setup.walking.walking.control))
        return walk == (self.robot, self.plant, self.control) and self.slowest <= speed <= self.fastest

    def usual(self) -> dict[str, Any]:
        """Return the part of ``result.json``: ``of`` says which walks, ``figures`` has least, most, unusual from."""
        return {
            "of": f"{self.walks} good walks as shipped, {self.plant} plant, {self.control} control, "
            f"{self.slowest:g} to {self.fastest:g} m/s",
            "figures": {
                key: {"least": least, "most": most, "unusual": _unusual_from(key, least, most)}
                for key, (least, _, most) in self.figures.items()
            },
        }


def _unusual_from(key: str, least: float, most: float) -> float:
    fraction = _OF_RMS if key.endswith(".rms") else _OF_OTHERS
    return most + max(_SPREADS * (most - least), fraction * most)


def usual_figures(setup: Setup, command: Command) -> dict[str, Any] | None:
    """Return what is usual for a walk; None where there are no known walks like it.

    A file that cannot be read loses no walk: ``of`` says so.
    """
    if not isinstance(command, VelocityCommand) or (command.lateral, command.angular) != (0.0, 0.0):
        return None
    if setup.simulation.ground.kind != GroundKind.RIGID or setup.simulation.ground.steepness != 0.0:
        return None
    try:
        found = [band for band in _bands(setup.robot_argument) if band.is_of(setup, command.forward)]
        return found[-1].usual() if found else None
    except (AttributeError, ConfigError, LookupError, TypeError, ValueError) as error:
        return {"of": f"no known walks, {_FILES} cannot be read: {error!r}", "figures": {}}


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
