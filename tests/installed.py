"""Packages of the examples, known as if they were installed."""

import importlib
import tomllib
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def install(folder, place, monkeypatch):
    """Make the entry points that ``folder/pyproject.toml`` declares known, and its modules importable, for one test.

    Args:
        folder: Of the package.
        place: An empty folder for its metadata.
        monkeypatch: Of the test.
    """
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = project.get("name", "own")
    metadata = place / f"{package.replace('-', '_')}-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n", encoding="utf-8")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n{name} = {value}" for group, names in groups for name, value in names.items()]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.syspath_prepend(str(place))
    importlib.invalidate_caches()
