"""A page in the browser: the robot, its state, plots, and what one asks it for."""

from gradiva.page.guard import LOOPBACK, Guard, PageAddress, answer
from gradiva.page.page_link import NewestValue, Page, PageLink, Picture, picture_type
from gradiva.page.page_process import Wheel, page_in_its_process

__all__ = [
    "LOOPBACK",
    "Guard",
    "NewestValue",
    "Page",
    "PageAddress",
    "PageLink",
    "Picture",
    "Wheel",
    "answer",
    "page_in_its_process",
    "picture_type",
]
