"""The seam of estimation: what an estimator does, and the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from gradiva.common import JointCommand, Measurement, NDArray, Registry, RobotState, WalkingReference

if TYPE_CHECKING:
    from gradiva.estimation.state_estimator import StateEstimator


class Estimator(ABC):
    """From sensors to the state of the robot: the shipped one, or one of the user's own.

    One of the user's own is made with the shipped estimator, which it may ask, and its configuration.
    ``walking.estimator`` names it, by an entry point of the group ``gradiva.estimators`` or as
    ``package.module:Class``, and ``[estimators.NAME]`` is the table of its ``Config``.

    Attributes:
        Config: Dataclass of its table; None without one.
    """

    Config: ClassVar[type[Any] | None] = None

    @classmethod
    def built(cls, shipped: StateEstimator, own: Any) -> Estimator:
        """Return the estimator; by default by its constructor.

        Args:
            shipped: The estimator of Gradiva, as it is configured.
            own: Its configuration, an instance of ``Config``; None without one.
        """
        return cls(shipped, own)  # type: ignore[call-arg]

    @abstractmethod
    def reset(self) -> None:
        """Forget the past: the robot was prepared again."""

    @abstractmethod
    def update(
        self,
        measurement: Measurement,
        reference: WalkingReference,
        time: float | None = None,
        commanded_zmp: NDArray | None = None,
    ) -> RobotState:
        """Return the state; see ``StateEstimator.update``.

        Raises:
            EstimationError: The measurement cannot be used: the last command is held.
        """

    def note_command(self, command: JointCommand) -> None:  # noqa: B027 (most know the torques by measurement)
        """Note the command that the servos obey from now on: it says what torques nothing measures."""

    def note_gap(self) -> None:  # noqa: B027 (most measure no durations)
        """Note that the clock jumped: the duration until the next sample is not known."""

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return numbers and vectors to be logged in each tick, by name; the same names and sizes in all ticks."""
        return {}


ESTIMATORS = Registry(
    "gradiva.estimators",
    "estimator",
    (Estimator,),
    shipped={"floating_base": "gradiva.estimation.state_estimator:StateEstimator"},
    returns={"update": (RobotState,)},
    build=lambda kind, config, _name, shipped: kind.built(shipped, config),
)
