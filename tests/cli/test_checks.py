"""Checks of this machine: versions, plug-ins."""

import sys

import pytest

from gradiva.cli.checks import allows, parse_requirement
from tests.installed import EXAMPLES, install

PLUGINS = {
    "own_dcm_law": "balance law 'heading_gains': heading_gains:HeadingGains",
    "own_task": "whole-body task 'arm_swing': arm_swing:ArmSwing",
    "own_safety_check": "safety check 'fence': fence:FenceCheck",
    "own_experiment": "experiment 'swing_cost': swing_cost:EXPERIMENT",
    "own_ground": "ground 'rubber': rubber:Rubber",
}


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


@pytest.mark.parametrize("example", PLUGINS)
def test_the_plugin_of_an_example_is_listed_with_its_package(gradiva, tmp_path, monkeypatch, example):
    install(EXAMPLES / example, tmp_path / "site", monkeypatch)
    status, out, _ = gradiva("plugins")
    assert status == 0
    assert f"ok    {PLUGINS[example]} ({example.replace('_', '-')} 0.1.0)\n" in out


@pytest.mark.parametrize(
    ("group", "source", "reason"),
    [
        ("gradiva.tasks", "import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found'"),
        ("gradiva.balance_laws", "class Mine: ...\n", "neither a DcmLaw nor a BalanceLayer"),
    ],
)
def test_a_plugin_that_fails_to_load_is_named_with_the_reason(gradiva, tmp_path, monkeypatch, group, source, reason):
    (tmp_path / "broken_package.py").write_text(source)
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\n[project.entry-points."{group}"]\nmine = "broken_package:Mine"\n'
    )
    install(tmp_path, tmp_path / "site", monkeypatch)
    monkeypatch.delitem(sys.modules, "broken_package", raising=False)
    status, out, _ = gradiva("plugins")
    assert status == 1
    (broken,) = (line for line in out.splitlines() if line.startswith("fail"))
    assert "'mine': broken_package:Mine (own 0.1.0)" in broken
    assert reason in broken


def test_without_plugins_the_groups_are_named(gradiva, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    status, out, _ = gradiva("plugins")
    assert status == 0
    assert "no package declares any of gradiva.robots, gradiva.planners" in out
