"""Gains of a new robot with which its loops through the foot wrenches have the gain margin that is wanted.

The shipped gains are those of robots whose servos yield as iCub's do; stiff servos, or velocity loops that follow
within a tick, leave less of a gain margin. What takes most of it is lowered as ``gradiva robots`` advises; phase margin
and M_s alone lower nothing: MagicBot Z1, with 6.5 dB and 20°, walks with the shipped gains and falls with half of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import tomli_w

from gradiva.common import ControlMode, merge
from gradiva.setup.layers import Plant, nested
from gradiva.setup.load_setup import load_setup
from gradiva.setup.stability_margins import GAIN_MARGIN, StabilityMargins, stability_margins

_ROUNDS = 6  # gains that are lowered one after the other, each at most so often
_HALF = 0.5  # [-] of a gain that has no value with wide margins of its own, before the next is looked at
_FILES = {"zmp_com_controller": "simplified_model.toml", "foot_admittance": "whole_body.toml"}  # by position control


class LoweredGains(NamedTuple):
    """Gains of one control mode that differ from the shipped ones, with the margins before.

    Attributes:
        control: The mode.
        gains: By key.
        before: The least margins with the gains that were there.
    """

    control: ControlMode
    gains: Mapping[str, float]
    before: StabilityMargins

    @property
    def note(self) -> str:
        """One line for the user."""
        gains = ", ".join(f"{key} = {value:g}" for key, value in self.gains.items())
        return f"by {self.control} {gains}: the shipped gains leave {' '.join(self.before.figures.split())}"


def widen_margins(folder: Path, heading: str) -> Iterator[tuple[Path, LoweredGains]]:
    """Write the gains with which the loops of a draft have wide margins by position, then by velocity control.

    Args:
        folder: Of the robot, which walks; files that are there stay.
        heading: Of the files.

    Yields:
        Each file that is written, with the gains.

    Raises:
        WalkingError: The configuration is refused, or the robot cannot stand as it should.
    """
    for control in (ControlMode.POSITION, ControlMode.VELOCITY):
        lowered = _lowered(folder, control)
        if lowered is None:
            continue
        files: dict[str, dict[str, float]] = {}
        for key, value in lowered.gains.items():
            name = _FILES[key.partition(".")[0]] if control is ControlMode.POSITION else "velocity.toml"
            files.setdefault(name, {})[key] = value
        for name, gains in files.items():
            tables = reduce(merge, (nested(key, value) for key, value in gains.items()))
            text = f"# {heading} by {control} control, for wide stability margins: see gradiva robots.\n\n"
            (folder / name).write_text(text + tomli_w.dumps(tables), encoding="utf-8")
            yield folder / name, lowered


def _lowered(folder: Path, control: ControlMode) -> LoweredGains | None:
    """Return the gains of one mode that have to be lowered; None where none has, or where that does not widen it."""
    gains: dict[str, float] = {}
    before = None
    for _ in range(_ROUNDS):
        choice = {"walking.control": str(control), "walking.model": "dcm", **gains}
        setups = [load_setup(str(folder), choice, plant=plant) for plant in (Plant.IDEAL, Plant.ROBOT)]
        found = [(stability_margins(setup), setup) for setup in setups]
        narrow, setup = min(found, key=lambda pair: pair[0].margins.gain_db)
        before = before or narrow
        if narrow.margins.gain_db >= GAIN_MARGIN:
            return LoweredGains(control, gains, before) if gains else None
        if not narrow.gain:
            return None
        factor = _HALF if math.isnan(narrow.largest) else narrow.largest / narrow.value
        gains[narrow.gain] = _rounded(factor * narrow.value)
        if narrow.gain.endswith(".zmp"):
            beside = narrow.gain.removesuffix("zmp") + "com"
            law = setup.walking.zmp_com_controller
            pair = law.walking if ".walking." in narrow.gain else law.standing
            gains[beside] = _rounded(factor * pair.com)
    return None


def _rounded(gain: float) -> float:
    """Return a gain rounded down to three digits."""
    digits = 2 - math.floor(math.log10(gain))
    return math.floor(gain * 10.0**digits) / 10.0**digits
