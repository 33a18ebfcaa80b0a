"""``gradiva app``: applications of yarpmanager, run without it."""

from gradiva.cli.applications.commands import applications_app

__all__ = ["applications_app"]
