"""What touches the ground: support polygon, contacts and their forces."""

from gradiva.contacts.penalty_contact import PenaltyConfig, penalty_accelerations, penalty_forces
from gradiva.contacts.pendulum_wrenches import left_share, pendulum_wrenches
from gradiva.contacts.support_polygon import SupportPolygon, support_polygon

__all__ = [
    "PenaltyConfig",
    "SupportPolygon",
    "left_share",
    "penalty_accelerations",
    "penalty_forces",
    "pendulum_wrenches",
    "support_polygon",
]
