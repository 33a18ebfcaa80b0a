"""From sensors to the robot's state."""

from gradiva.estimation.base_source import BaseSource
from gradiva.estimation.state_estimator import StateEstimator, StateEstimatorConfig

__all__ = ["BaseSource", "StateEstimator", "StateEstimatorConfig"]
