"""``gradiva app list``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from gradiva.cli.output import JsonTarget, console_beside
from gradiva.common import ConfigError
from gradiva.yarp_modules.application.application_reader import application_files, find_application, read_application


def list_all(json: str | None) -> int:
    """Print which applications are installed; return the exit status."""
    target = JsonTarget(json)
    found = [_described(name, path) for name, path in application_files().items()]
    target.write({"applications": found})
    table = Table("application", "what", "modules", title_justify="left")
    for each in found:
        table.add_row(each["name"], each["description"], ", ".join(each["modules"]))
    console_beside(target).print(table)
    return 0


def _described(name: str, path: Path) -> dict[str, Any]:
    try:
        application = read_application(path, find_application)
    except ConfigError as error:
        return {"name": name, "file": str(path), "description": f"wrong: {error}", "modules": []}
    return {
        "name": name,
        "file": str(path),
        "description": application.description,
        "modules": list(application.titles()),
    }
