"""From sensors to the robot's state."""

from gradiva.estimation.contact_estimator import (
    ContactDetector,
    ContactEstimator,
    ContactEstimatorConfig,
    ContactParameterEstimator,
)
from gradiva.estimation.estimators import ESTIMATORS, Estimator
from gradiva.estimation.external_wrench_observer import ExternalWrenchConfig, ExternalWrenchObserver
from gradiva.estimation.flexible_joint_observer import (
    DeflectionSource,
    FlexibleJointObserver,
    FlexibleJointObserverConfig,
    FlexibleJointState,
    FootMotion,
)
from gradiva.estimation.floating_base_kinematics import BaseSource
from gradiva.estimation.foot_wrench_estimator import FootWrenchEstimator, FootWrenchSource
from gradiva.estimation.state_estimator import (
    DOUBLE_SUPPORT_LAG,
    STRIDE_OVER,
    StateEstimator,
    StateEstimatorConfig,
)

__all__ = [
    "DOUBLE_SUPPORT_LAG",
    "ESTIMATORS",
    "STRIDE_OVER",
    "BaseSource",
    "ContactDetector",
    "ContactEstimator",
    "ContactEstimatorConfig",
    "ContactParameterEstimator",
    "DeflectionSource",
    "Estimator",
    "ExternalWrenchConfig",
    "ExternalWrenchObserver",
    "FlexibleJointObserver",
    "FlexibleJointObserverConfig",
    "FlexibleJointState",
    "FootMotion",
    "FootWrenchEstimator",
    "FootWrenchSource",
    "StateEstimator",
    "StateEstimatorConfig",
]
