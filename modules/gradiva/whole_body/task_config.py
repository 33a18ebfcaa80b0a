"""Gains, weights and priorities of what is asked of accelerations, wrenches and torques."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Protocol

from gradiva.common import ConfigError


class Priority(StrEnum):
    """How binding a task or a limit is."""

    HARD = "hard"
    """A constraint: without an answer that meets it there is none. Relaxed, it is as a soft one."""
    SOFT = "soft"
    """Each square of what is missing costs its weight."""
    OFF = "off"
    """Not asked for."""


class _Task(Protocol):
    @property
    def priority(self) -> Priority: ...

    @property
    def weight(self) -> float: ...


@dataclass(frozen=True, slots=True)
class PoseTaskConfig:
    """Of a frame's position and orientation.

    Attributes:
        priority: How binding.
        weight: Of each (m/s²)² and (rad/s²)² that is missing, when soft, [-].
        linear_stiffness: [1/s²].
        linear_damping: [1/s].
        angular_stiffness: [1/s²].
        angular_damping: [1/s].
    """

    priority: Priority
    weight: float
    linear_stiffness: float
    linear_damping: float
    angular_stiffness: float
    angular_damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class OrientationTaskConfig:
    """Of a frame's orientation.

    Attributes:
        priority: How binding.
        weight: Of each (rad/s²)² that is missing, when soft, [-].
        stiffness: [1/s²].
        damping: [1/s].
    """

    priority: Priority
    weight: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class ComTaskConfig:
    """Of the centre of mass.

    Attributes:
        priority: How binding.
        weight: Of each (m/s²)² that is missing, when soft, [-].
        stiffness: [1/s²].
        damping: [1/s].
    """

    priority: Priority
    weight: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class AngularMomentumTaskConfig:
    """Of the centroidal angular momentum, which is asked to be zero.

    Attributes:
        priority: How binding.
        weight: Of each (N·m)² that is missing to its rate, when soft, [-].
        damping: [1/s].
    """

    priority: Priority
    weight: float
    damping: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class ZmpTaskConfig:
    """Of a zero moment point.

    Attributes:
        priority: How binding.
        weight: Of each (N·m)² of the moment about it, when soft, [-].
    """

    priority: Priority
    weight: float

    def __post_init__(self) -> None:
        check_task(self)


@dataclass(frozen=True, slots=True)
class PostureTaskConfig:
    """Of the joints; always soft, critically damped.

    Attributes:
        stiffness: By joint group, [1/s²].
        weights: By joint group, of each (rad/s²)² that is missing, [-].
    """

    stiffness: dict[str, float]
    weights: dict[str, float]

    def __post_init__(self) -> None:
        for name, table in (("stiffness", self.stiffness), ("weights", self.weights)):
            for group, value in table.items():
                if value <= 0.0:
                    raise ConfigError(f"{name}.{group}={value}, must be positive")


def check_task(config: _Task) -> None:
    """Pass when a task can be asked for as its configuration says.

    Raises:
        ConfigError: A number is negative, or a hard task has no weight.
    """
    refuse_negative(config)
    if config.priority is Priority.HARD and config.weight == 0.0:
        raise ConfigError("weight=0.0, must be positive: it is what a hard task costs where it cannot be met")


def refuse_negative(config: object) -> None:
    """Pass when no number of a configuration is negative.

    Raises:
        ConfigError: One is.
    """
    for field in fields(config):  # type: ignore[arg-type]
        value = getattr(config, field.name)
        if isinstance(value, float) and value < 0.0:
            raise ConfigError(f"{field.name}={value}, must not be negative")
