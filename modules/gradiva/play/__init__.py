"""Drive, push and tune a simulated robot from a page in the browser."""

from gradiva.play.interactive_walk import InteractiveWalk, Tuning

__all__ = ["InteractiveWalk", "Tuning"]
