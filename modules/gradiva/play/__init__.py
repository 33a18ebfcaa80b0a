"""Drive, push and tune a simulated robot from a page in the browser."""

from gradiva.play.interactive_walk import InteractiveWalk, Tuning
from gradiva.play.page_link import NewestValue
from gradiva.play.page_process import Guard, Wheel, answer, page_in_its_process

__all__ = ["Guard", "InteractiveWalk", "NewestValue", "Tuning", "Wheel", "answer", "page_in_its_process"]
