"""Gains and weights of the inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import ConfigError
from gradiva.whole_body.qp_solver import SolverName

_HARD_GAINS = ("foot_linear_gain", "foot_angular_gain", "com_gain")


@dataclass(frozen=True, slots=True)
class InverseKinematicsConfig:
    """Gains and weights of the tasks.

    Attributes:
        foot_linear_gain: [1/s].
        foot_angular_gain: [1/s].
        com_gain: [1/s].
        torso_gain: [1/s].
        posture_gain: [1/s].
        torso_weight: Against the posture's, [-].
        pelvis_weight: Against the posture's, [-].
        angular_momentum_weights: Of the centroidal angular momentum about x, y and z, [1/(kg·m²)²]; about z it swings
            the arms against the legs.
        posture_weights: By joint group, [-].
        position_margin: Kept from each joint limit, [rad].
        solver: ``daqp`` or ``osqp``.
    """

    foot_linear_gain: float
    foot_angular_gain: float
    com_gain: float
    torso_gain: float
    posture_gain: float
    torso_weight: float
    pelvis_weight: float
    angular_momentum_weights: tuple[float, float, float]
    posture_weights: dict[str, float]
    position_margin: float = 1e-3
    solver: SolverName = SolverName.DAQP

    def __post_init__(self) -> None:
        for name in _HARD_GAINS:
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive: without it feet and CoM drift off")
        for name in ("torso_gain", "posture_gain", "torso_weight", "pelvis_weight", "position_margin"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")
        if min(self.angular_momentum_weights) < 0.0:
            raise ConfigError(f"angular_momentum_weights={self.angular_momentum_weights}, must not be negative")
        for group, weight in self.posture_weights.items():
            if weight <= 0.0:
                raise ConfigError(f"posture_weights.{group}={weight}, must be positive")
