"""What touches the ground: support polygon, contacts and their forces."""

from gradiva.contacts.linear_contact import LinearContact
from gradiva.contacts.loaded_part import LoadedEdge, loaded_moments, loaded_part, normal_pressure
from gradiva.contacts.penalty_contact import PenaltyConfig, penalty_accelerations, penalty_forces
from gradiva.contacts.pendulum_wrenches import left_share, pendulum_wrenches
from gradiva.contacts.sinkage import static_sinkage
from gradiva.contacts.sole_moments import SoleMoments, polygon_moments, rectangle_moments
from gradiva.contacts.support_polygon import SupportPolygon, support_polygon
from gradiva.contacts.viscoelastic_contact import SoleMotion, ViscoElasticContact, WrenchRate
from gradiva.contacts.viscoelastic_equations import ViscoElasticEquations
from gradiva.contacts.viscoelastic_parameters import ViscoElasticParameters

__all__ = [
    "LinearContact",
    "LoadedEdge",
    "PenaltyConfig",
    "SoleMoments",
    "SoleMotion",
    "SupportPolygon",
    "ViscoElasticContact",
    "ViscoElasticEquations",
    "ViscoElasticParameters",
    "WrenchRate",
    "left_share",
    "loaded_moments",
    "loaded_part",
    "normal_pressure",
    "penalty_accelerations",
    "penalty_forces",
    "pendulum_wrenches",
    "polygon_moments",
    "rectangle_moments",
    "static_sinkage",
    "support_polygon",
]
