"""What the interfaces of control boards stand on: one board, or several made into one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import CommandKind
from pureyarp.devices.api_arguments import Joints
from pureyarp.devices.measured import Measured
from pureyarp.wire.elements import Element


class ControlBoard(ABC):
    """The joints of one board, or of several made into one; all methods log why they fail, and none raises."""

    @property
    @abstractmethod
    def axes(self) -> int:
        """Return how many joints there are."""

    @abstractmethod
    def ask(self, feature: Feature, of: Joints = None, controller: int | None = None) -> list[Element] | None:
        """Return the values that the board answers: of one joint a number each, of several a list each."""

    @abstractmethod
    def tell(
        self, feature: Feature, of: Joints = None, values: Sequence[Element] = (), controller: int | None = None
    ) -> bool:
        """Order something; True when the board agreed. ``values`` has one element for each joint, or those of one."""

    @abstractmethod
    def stream(self, kind: CommandKind, of: Joints, values: Sequence[float]) -> bool:
        """Send set-points [deg, deg/s, N m, % or A] without waiting; whether they are followed is not told."""

    @abstractmethod
    def measured(self, field: str, of: Joints = None) -> Measured | None:
        """Return the last values of a field of `JointData`; None when they are too old or not valid."""
