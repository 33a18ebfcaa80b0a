"""What touches the ground: support polygon, contacts and their forces."""

from gradiva.contacts.support_polygon import SupportPolygon, support_polygon

__all__ = ["SupportPolygon", "support_polygon"]
