"""From sensors to the robot's state."""

from gradiva.estimation.state_estimator import LowPass, StateEstimator, StateEstimatorConfig

__all__ = ["LowPass", "StateEstimator", "StateEstimatorConfig"]
