"""``gradiva robots``."""

from __future__ import annotations

from typing import Any

from gradiva.common import ModelError


def robots() -> int:
    """Tell which robots there are."""
    from rich.console import Console
    from rich.table import Table

    from gradiva.setup import robot_names

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("robot")
    for heading in ("joints", "mass", "CoM height", "max speed"):
        table.add_column(heading, justify="right")
    table.add_column("model")
    for name in robot_names():
        table.add_row(*_row(name))
    Console(highlight=False).print(table)
    return 0


def _row(name: str) -> list[str]:
    from gradiva.setup import data_folder, find_model_file, read_toml

    table: dict[str, Any] = read_toml(data_folder("robots") / name / "robot.toml")
    try:
        find_model_file(str(table["package"]), str(table["model"]))
        found = f"found in {table['package']}"
    except ModelError as error:
        found = f"missing: {error}"
    joints = sum(len(group["joints"]) for group in table["joint_groups"].values())
    return [
        name,
        table["title"],
        str(joints),
        f"{table['mass']:.1f} kg",
        f"{table['com_height']:.3f} m",
        f"{table['max_speed']:.2f} m/s",
        found,
    ]
