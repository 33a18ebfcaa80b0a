"""Contacts with the ground: support polygon, foot wrenches, soft and rigid contact forces."""

from gradiva.contacts.contact_plane import UP, ContactPlane
from gradiva.contacts.loaded_part import (
    LoadedEdge,
    SoleMoments,
    loaded_moments,
    loaded_part,
    normal_pressure,
    polygon_moments,
    rectangle_moments,
)
from gradiva.contacts.penalty_contact import PenaltyConfig, penalty_accelerations, penalty_forces
from gradiva.contacts.support_polygon import SupportPolygon, support_polygon
from gradiva.contacts.viscoelastic_contact import (
    LinearContact,
    SoleMotion,
    ViscoElasticContact,
    ViscoElasticEquations,
    ViscoElasticParameters,
    WrenchRate,
    static_sinkage,
)

__all__ = [
    "UP",
    "ContactPlane",
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
    "loaded_moments",
    "loaded_part",
    "normal_pressure",
    "penalty_accelerations",
    "penalty_forces",
    "polygon_moments",
    "rectangle_moments",
    "static_sinkage",
    "support_polygon",
]
