"""Drive, push and tune a simulated robot from a page in the browser."""

from gradiva.play.guard import Guard
from gradiva.play.interactive_walk import InteractiveWalk
from gradiva.play.newest_value import NewestValue
from gradiva.play.page_process import Wheel, page_in_its_process
from gradiva.play.page_server import answer
from gradiva.play.tuning import Tuning

__all__ = ["Guard", "InteractiveWalk", "NewestValue", "Tuning", "Wheel", "answer", "page_in_its_process"]
