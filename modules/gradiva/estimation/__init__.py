"""From sensors to the robot's state."""

from gradiva.estimation.state_estimator import StateEstimator, StateEstimatorConfig

__all__ = ["StateEstimator", "StateEstimatorConfig"]
