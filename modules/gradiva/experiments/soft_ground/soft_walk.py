"""The walk of the thesis' chapter 8: iCub steps straight ahead on soft ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradiva.common import GRAVITY, SoleRectangle
from gradiva.contacts import ViscoElasticParameters, static_sinkage
from gradiva.experiments.asked import Asked
from gradiva.experiments.experiment import as_text
from gradiva.experiments.linear_contact_error import LENGTH, WIDTH
from gradiva.experiments.trial import Trial
from gradiva.planner import VelocityCommand
from gradiva.setup import load_robot, load_setup, read_toml
from gradiva.walking import GroundModel

ROBOT = "icub_v2_7"
STEP_LENGTH = 0.155  # [m] foot to foot
_COM_HEIGHT = 0.53  # [m] of the standing robot's CoM above its sole frames: between straight knees and bent ankles
_RAMP = 1.0  # [steps] by which the command is shorter than the walk: the last step closes the feet


@dataclass(frozen=True, slots=True)
class SoftWalk:
    """What is walked, on which ground, with which controller.

    Attributes:
        ground: Stiffness and damping, of the simulator and, at first, of the controller.
        steps: How many, the last of which closes the feet.
        step_length: [m].
        controller: What torque control takes the ground to be.
        learns: Whether the controller estimates the ground.
        prior: Assumed stiffness and damping over the true ones, [-].
        overrides: ``table.key`` to value, laid over all of it.
        notes: Columns of its row that say what is special about it.
        asked: What has to come.
    """

    ground: ViscoElasticParameters
    steps: int
    step_length: float = STEP_LENGTH
    controller: GroundModel = GroundModel.COMPLIANT
    learns: bool = False
    prior: float = 1.0
    overrides: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    asked: Asked = Asked.TO_TRACK

    @property
    def title(self) -> str:
        """For people."""
        notes = "".join(f", {name} {value}" for name, value in self.notes.items())
        stiffness, damping = map(as_text, self.ground)
        return f"{self.controller}, k = {stiffness}, b = {damping}{notes}"

    def trial(self, seed: int = 0) -> Trial:
        """Return the walk by names and numbers alone."""
        tables = {**read_toml(Path(__file__).with_name("walk.toml")), **self._numbers(), **self.overrides}
        step_duration = load_setup(ROBOT, tables).walking.planner.max_step_duration
        duration = (self.steps - _RAMP) * step_duration
        return Trial(ROBOT, VelocityCommand(self.step_length / step_duration, duration=duration), tables, seed=seed)

    def _numbers(self) -> dict[str, Any]:
        stiffness, damping = self.ground
        return {
            "simulation.viscoelastic.stiffness": stiffness,
            "simulation.viscoelastic.damping": damping,
            "torque_control.ground": str(self.controller),
            "contact_estimator.stiffness": self.prior * stiffness,
            "contact_estimator.damping": self.prior * damping,
            "contact_estimator.learns": self.learns,
            "planner.com_height": _COM_HEIGHT - sinkage(stiffness),
        }


def asked_of(controller: GroundModel) -> Asked:
    """Return what is asked where both controllers are compared: the rigid one's outcome is as found."""
    return Asked.TO_TRACK if controller is GroundModel.COMPLIANT else Asked.AS_FOUND


def sinkage(stiffness: float) -> float:
    """Return how deep both soles sink under the standing robot, m g / (2 A k), [m], for k [N/m³]."""
    sole = SoleRectangle((0.0, LENGTH), (0.0, WIDTH), 0.0)
    return static_sinkage(0.5 * load_robot(ROBOT).mass * GRAVITY, sole, stiffness)
