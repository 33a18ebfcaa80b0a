"""The code stays as short to read as it is: files, lines, a tick's path and names keep their budgets."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "scripts" / "house"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("YARP_")}
    command = [sys.executable, str(HOUSE), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def small_house(tmp_path_factory):
    """Return figures and lists of a checkout of two packages, one of them below the folder of its distribution."""
    root = tmp_path_factory.mktemp("house")
    room = root / "modules" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("from room.law import Law\n")
    (room / "law.py").write_text('"""What a law is."""\n\n\nclass Law:\n    """Steers."""\n')
    (room / "user.py").write_text("from room import Law\n\nborne_time = Law\n")
    (room / "other.py").write_text("import room.user\nimport room.law\n")
    tool = root / "modules" / "distribution" / "tool"
    tool.mkdir(parents=True)
    (tool / "__init__.py").touch()
    (tool / "hammer.py").write_text("from room.law import Law\n")
    (root / "config").mkdir()
    (root / "config" / "law.toml").write_text(
        '[law]\nkind = "a"\ngain = 1.0 # ' + 81 * "x" + "\ndelay = 0.1\nlimit = 2.0\n"
    )
    (root / "config" / "torque.toml").write_text("[law]\ndelay = 0.0\n")
    (root / "tests").mkdir()
    (root / "tests" / "test_law.py").write_text('SETTING = "law.gain=2.0"\nLAW = LawConfig(kind="b")\n')
    done = run("--static", "--json", "--root", str(root))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_code_keeps_its_budgets():
    done = run("--check")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_what_exceeds_its_budget_is_named_with_the_list_behind_it(monkeypatch):
    house = ModuleType("house")
    monkeypatch.setitem(sys.modules, "house", house)
    house.__file__ = str(HOUSE)
    exec(compile(HOUSE.read_text(encoding="utf-8"), str(HOUSE), "exec"), house.__dict__)
    complaints = house.exceeded({"house_words": 10_000, "files": 1}, {"house_words": ["a.py:1: told"]})
    assert complaints == [f"house_words: 10000, at most {house.BUDGETS['house_words']}\n  a.py:1: told"]


def test_files_and_lines_are_counted_without_inits(small_house):
    assert small_house["figures"]["files"] == 4
    assert small_house["figures"]["lines"] == 11
    assert small_house["lists"]["rooms"] == ["room: 3 files, 10 lines", "tool: 1 files, 1 lines"]


def test_importing_from_a_room_imports_the_file_that_defines_the_name(small_house):
    assert small_house["lists"]["small_single_importer_files"] == ["room.user (3) <- room.other"]


def test_house_words_are_found_in_names_and_docstrings(small_house):
    assert small_house["lists"]["house_words"] == [
        "modules/room/law.py:1: What a law is.",
        "modules/room/user.py:3: borne (in borne_time)",
    ]


def test_keys_are_counted_with_those_that_no_preset_and_no_test_varies(small_house):
    assert small_house["figures"]["configuration_keys"] == 4
    assert small_house["lists"]["unvaried_keys"] == ["law.limit"]


def test_comments_of_keys_are_short_reasons(small_house):
    assert small_house["lists"]["long_comments"] == ["config/law.toml:3: 81 characters"]
