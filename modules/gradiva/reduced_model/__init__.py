"""Layer 2 by the centroidal dynamics: nonlinear MPC of contact forces and contact locations."""

from gradiva.reduced_model.blf_mpc import BlfCentroidalMpc, centroidal_problem
from gradiva.reduced_model.centroidal_layer import CentroidalLaw, CentroidalModelControl, CentroidalWalkingConfig
from gradiva.reduced_model.centroidal_mpc import (
    CentroidalMpc,
    CentroidalMpcConfig,
    CentroidalSolution,
    CentroidalSolver,
    CentroidalState,
    InputMemory,
)
from gradiva.reduced_model.centroidal_problem import (
    CentroidalBody,
    CentroidalLimits,
    CentroidalProblem,
    CentroidalWeights,
    Trajectory,
)
from gradiva.reduced_model.centroidal_solvers import Accuracy
from gradiva.reduced_model.contact_plan import ComReference, ContactPhase, ContactPlan, ContactPreview, com_reference

__all__ = [
    "Accuracy",
    "BlfCentroidalMpc",
    "CentroidalBody",
    "CentroidalLaw",
    "CentroidalLimits",
    "CentroidalModelControl",
    "CentroidalMpc",
    "CentroidalMpcConfig",
    "CentroidalProblem",
    "CentroidalSolution",
    "CentroidalSolver",
    "CentroidalState",
    "CentroidalWalkingConfig",
    "CentroidalWeights",
    "ComReference",
    "ContactPhase",
    "ContactPlan",
    "ContactPreview",
    "InputMemory",
    "Trajectory",
    "centroidal_problem",
    "com_reference",
]
