"""From sensors to the robot's state."""

from gradiva.estimation.contact_estimator import (
    ContactDetector,
    ContactDetectorConfig,
    ContactEstimator,
    ContactEstimatorConfig,
    ContactParameterEstimator,
    ContactParameterEstimatorConfig,
)
from gradiva.estimation.estimators import ESTIMATORS, Estimator, make_estimator
from gradiva.estimation.external_wrench_observer import ExternalWrenchConfig, ExternalWrenchObserver
from gradiva.estimation.flexible_joint_observer import (
    DeflectionSource,
    FlexibleJointObserver,
    FlexibleJointObserverConfig,
    FlexibleJointState,
    FootMotion,
)
from gradiva.estimation.floating_base_kinematics import BaseSource
from gradiva.estimation.state_estimator import DOUBLE_SUPPORT_LAG, StateEstimator, StateEstimatorConfig

__all__ = [
    "DOUBLE_SUPPORT_LAG",
    "ESTIMATORS",
    "BaseSource",
    "ContactDetector",
    "ContactDetectorConfig",
    "ContactEstimator",
    "ContactEstimatorConfig",
    "ContactParameterEstimator",
    "ContactParameterEstimatorConfig",
    "DeflectionSource",
    "Estimator",
    "ExternalWrenchConfig",
    "ExternalWrenchObserver",
    "FlexibleJointObserver",
    "FlexibleJointObserverConfig",
    "FlexibleJointState",
    "FootMotion",
    "StateEstimator",
    "StateEstimatorConfig",
    "make_estimator",
]
