"""``gradiva robots``."""

from __future__ import annotations

from typing import Any

from gradiva.cli.interrupts import leaving_at_once
from gradiva.common import ModelError


def robots() -> int:
    """Tell which robots there are."""
    from rich.table import Table

    with leaving_at_once():
        from gradiva.cli.output import console_for_people
        from gradiva.setup import robot_names

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("robot")
    for heading in ("joints", "mass", "CoM height", "max speed"):
        table.add_column(heading, justify="right")
    table.add_column("model")
    remedies = []
    for name in robot_names():
        description = _description(name)
        remedy = _remedy(description)
        table.add_row(*_row(name, description, "missing" if remedy else "found"))
        remedies += [f"{name}: {remedy}"] if remedy else []
    console = console_for_people()
    console.print(table)
    for remedy in remedies:
        console.print(remedy, markup=False, soft_wrap=True)
    return 0


def _description(name: str) -> dict[str, Any]:
    from gradiva.setup import data_folder, read_toml

    return read_toml(data_folder("robots") / name / "robot.toml")


def _remedy(description: dict[str, Any]) -> str:
    """Return what to do about a missing model, or nothing."""
    from gradiva.setup import find_model_file

    try:
        find_model_file(str(description["package"]), str(description["model"]))
    except ModelError as error:
        return str(error)
    return ""


def _row(name: str, table: dict[str, Any], model: str) -> list[str]:
    joints = sum(len(group["joints"]) for group in table["joint_groups"].values())
    return [
        name,
        table["title"],
        str(joints),
        f"{table['mass']:.1f} kg",
        f"{table['com_height']:.3f} m",
        f"{table['max_speed']:.2f} m/s",
        model,
    ]
