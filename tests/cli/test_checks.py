"""Checks of this machine: versions, plug-ins."""

import pytest

from gradiva.cli.checks import allows, parse_requirement


@pytest.mark.parametrize(
    ("requirement", "parts"),
    [
        ("numpy<3,>=2.0", ("numpy", "<3,>=2.0")),
        ("icub-models==2.8.1", ("icub-models", "==2.8.1")),
        ("pytest<10,>=8.3; extra == 'dev'", ("pytest", "<10,>=8.3")),
        ("viser[dev] (>=1.1, <1.2)", ("viser", ">=1.1,<1.2")),
        ("rich", ("rich", "")),
    ],
)
def test_a_requirement_has_a_name_and_a_range(requirement, parts):
    assert parse_requirement(requirement) == parts


@pytest.mark.parametrize(
    ("versions", "installed", "expected"),
    [
        ("<3,>=2.0", "2.4.6", True),
        ("<3,>=2.0", "3.0", False),
        ("<3,>=2.0", "1.26.4", False),
        ("==2.8.1", "2.8.1", True),
        ("==2.8.1", "2.8.10", False),
        ("<0.12", "0.11.0", True),
        ("<=1.2", "1.2.0", True),
        (">=2.0", "2.0rc1", True),
        ("", "7", True),
    ],
)
def test_versions_are_compared_number_by_number(versions, installed, expected):
    assert allows(versions, installed) is expected


def install(folder, name, group, value, source):
    (folder / f"{name}.py").write_text(source)
    metadata = folder / f"{name}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\nmine = {value}\n")


def test_each_plugin_is_listed_with_its_package_and_a_broken_one_with_its_reason(gradiva, tmp_path, monkeypatch):
    install(tmp_path, "sound_law", "gradiva.balance_laws", "sound_law:Law", "class Law: ...\n")
    install(tmp_path, "broken_task", "gradiva.tasks", "broken_task:Task", "import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    status, out, _ = gradiva("plugins")
    assert status == 1
    lines = out.splitlines()
    assert "ok    balance law 'mine': sound_law:Law (sound_law 1.2)" in lines
    (broken,) = (line for line in lines if line.startswith("fail"))
    assert "whole-body task 'mine': broken_task:Task (broken_task 1.2)" in broken
    assert "No module named 'nowhere_to_be_found'" in broken


def test_without_plugins_the_groups_are_named(gradiva, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    status, out, _ = gradiva("plugins")
    assert status == 0
    assert "no package declares any of gradiva.balance_laws, gradiva.tasks" in out
