"""A DCM law with one gain along the heading of the robot and another one across it."""

from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, NDArray, RobotState
from gradiva.robot_model import RobotDescription
from gradiva.simplified_model import BalancePlan, DcmLaw


@dataclass(frozen=True, slots=True)
class HeadingGainsConfig:
    """Table ``[balance_laws.heading_gains]``.

    Attributes:
        forward: Gain along the heading, above 1, [-].
        sideways: Gain across it, above 1, [-].
    """

    forward: float
    sideways: float

    def __post_init__(self) -> None:
        for name in ("forward", "sideways"):
            if getattr(self, name) <= 1.0:
                raise ConfigError(f"{name}={getattr(self, name)}: the DCM error decays only above 1")


class HeadingGains(DcmLaw):
    r"""Feedback of the DCM error in the axes of the heading: :math:`z^* = z_r + R K R^\top (\xi - \xi_r)`."""

    Config = HeadingGainsConfig

    def __init__(self, config: HeadingGainsConfig, robot: RobotDescription | None = None) -> None:
        self._gains = np.array([config.forward, config.sideways])

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """Return the desired ZMP (world, [m], shape (2,)), within the support polygon."""
        cosine, sine = np.cos(plan.reference.heading), np.sin(plan.reference.heading)
        axes = np.array([[cosine, -sine], [sine, cosine]])  # R
        error = state.dcm_position - plan.reference.dcm.position
        return plan.polygon.project(plan.reference.dcm.zmp_position + axes @ (self._gains * (axes.T @ error)))
