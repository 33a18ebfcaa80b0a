"""``gradiva yarp``: looking into a network of YARP ports."""

from gradiva.cli.yarp.commands import yarp_app

__all__ = ["yarp_app"]
