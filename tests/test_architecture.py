"""Imports point down; ports, the engine and files stay in their rooms."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MODULES = Path(__file__).parents[1] / "modules" / "gradiva"
LAYERS = {"planner", "simplified_model", "reduced_model", "whole_body", "estimation"}
GROUND = {"common", "robot_model", "contacts", "blf"}
TICK = GROUND | LAYERS | {"push_recovery", "safety"}
MAY_IMPORT = {
    "common": set(),
    "robot_model": {"common"},
    "contacts": {"common"},
    "blf": {"common"},
    **dict.fromkeys(LAYERS, GROUND),
    "reduced_model": GROUND | {"simplified_model"},  # another layer 2 behind the same interface
    "simulation": GROUND,
    "middleware": {"common"},
    "telemetry": {"common", "robot_model"},
    "page": {"common", "robot_model", "telemetry"},
    "safety": GROUND,
    "push_recovery": GROUND | {"planner", "simplified_model", "whole_body"},
    "walking": TICK,
    "setup": TICK | {"walking", "simulation"},
    "session": TICK | {"walking"},
    "simulated_walk": TICK | {"walking", "simulation", "telemetry", "setup", "middleware"},
    "play": TICK | {"walking", "session", "simulation", "telemetry", "page", "setup", "simulated_walk"},
    "yarp_modules": TICK | {"walking", "session", "simulation", "telemetry", "page", "setup", "middleware"},
    "cli": None,  # everything
}
ONLY_IN = {
    "mujoco": {"simulation"},
    "yarp": {"middleware", "yarp_modules"},
    "viser": {"telemetry"},
    "websockets": {"page"},
    "casadi": {
        "robot_model",
        "whole_body",
        "estimation",
        "simplified_model",
        "reduced_model",
        "push_recovery",
        "walking",
        "simulation",
        "setup",
    },
}
TOUCHES_THE_MACHINE = {
    *("blf", "session", "setup", "simulated_walk", "page", "play", "cli", "telemetry", "yarp_modules", "middleware"),
}
MACHINE_MODULES = {"os", "io", "time", "shutil", "subprocess", "tempfile", "tomllib", "json", "socket"}
TOUCHING_FILES = {
    "simulation/film.py",  # pictures are files
    "reduced_model/centroidal_solvers.py",  # the stopwatch of the solver, for its deadline
    "robot_model/idyntree_model.py",  # keeps back what iDynTree writes to standard error
}
ROOT = MODULES.parents[1]
EXPERIMENTS = MODULES.parent / "gradiva_experiments" / "gradiva_experiments"
DISTRIBUTIONS = {  # folder of pyproject.toml: package, what is declared and never imported
    ROOT: (
        MODULES,
        {
            "example-robot-data",  # URDF and meshes of TALOS
            "imageio-ffmpeg",  # writes imageio's films
            "fast-simplification",  # decimates trimesh's meshes
        },
    ),
    EXPERIMENTS.parent: (EXPERIMENTS, {"imageio-ffmpeg", "cmaes"}),
    MODULES.parent / "pureyarp": (MODULES.parent / "pureyarp" / "pureyarp", set()),
}
SOURCES = sorted(MODULES.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(MODULES).parts[0]


@cache
def imported_names(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names.append(node.module or "")
    return names


def sources_in_rooms() -> list[Path]:
    return [path for path in SOURCES if path.parent != MODULES]


def imports_of(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file with each name that it imports."""
    return ((path, name) for path in paths for name in imported_names(path))


def test_every_room_has_its_place_in_the_order():
    assert {room_of(path) for path in sources_in_rooms()} <= MAY_IMPORT.keys()


def test_a_room_imports_only_what_lies_below_it():
    wrong = []
    for path, name in imports_of(sources_in_rooms()):
        room, parts = room_of(path), name.split(".")
        allowed = MAY_IMPORT[room]
        if parts[0] == "gradiva" and len(parts) > 1 and allowed is not None and parts[1] not in allowed | {room}:
            wrong.append(f"{path}: {room} must not import {name}")
    assert wrong == []


def test_engines_ports_and_files_stay_in_their_rooms():
    wrong = []
    for path, name in imports_of(sources_in_rooms()):
        room, relative, top = room_of(path), str(path.relative_to(MODULES)), name.split(".")[0]
        if top in ONLY_IN and room not in ONLY_IN[top]:
            wrong.append(f"{relative}: {top} is imported only in {sorted(ONLY_IN[top])}")
        if top in MACHINE_MODULES and room not in TOUCHES_THE_MACHINE and relative not in TOUCHING_FILES:
            wrong.append(f"{relative}: {top} touches the machine, which {room} must not")
    assert wrong == []


def foreign(folder: Path, known: set[str]) -> list[str]:
    """Return the imports below a folder that are neither known nor of the standard library."""
    found = imports_of(sorted(folder.rglob("*.py")))
    return [f"{path}: {name}" for path, name in found if name.split(".")[0] not in {*known, *sys.stdlib_module_names}]


def test_the_middleware_needs_numpy_and_the_standard_library_alone():
    assert foreign(MODULES / "middleware", {"gradiva", "pureyarp", "numpy", "yarp"}) == []


PUREYARP = MODULES.parent / "pureyarp" / "pureyarp"
SEES_YARP = {"yarp_modules", "simulated_walk", "cli"}


def test_pureyarp_needs_numpy_and_the_standard_library_alone():
    assert foreign(PUREYARP, {"pureyarp", "numpy"}) == []


def test_only_the_middleware_imports_pureyarp():
    outside = {
        f"{path}: {name}"
        for path in sources_in_rooms()
        for name in imported_names(path)
        if name.split(".")[0] == "pureyarp" and room_of(path) != "middleware"
    }
    assert outside == set(), "what other rooms need of pureyarp is a name of gradiva.middleware"


@pytest.mark.parametrize("room", sorted(SEES_YARP))
def test_rooms_that_use_the_middleware_catch_its_errors_as_they_catch_those_of_gradiva(room):
    for path in sorted((MODULES / room).rglob("*.py")):
        if not any(name.startswith(("gradiva.middleware", "gradiva.yarp_modules")) for name in imported_names(path)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            caught: list[ast.expr | None] = []
            if isinstance(node, ast.ExceptHandler):
                caught = [node.type]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                caught = list(node.args) if node.func.id in {"isinstance", "suppress"} else []
            names = {name.id for each in caught if each for name in ast.walk(each) if isinstance(name, ast.Name)}
            assert "WalkingError" not in names, f"{path}: catch NAMED_ERRORS of gradiva.middleware"


def test_every_room_has_a_readme_and_hands_on_its_nouns():
    for room in sorted({room_of(path) for path in sources_in_rooms()}):
        assert (MODULES / room / "README.md").is_file(), f"{room} has no README.md"
        text = (MODULES / room / "__init__.py").read_text(encoding="utf-8")
        assert "__all__" in text or room == "cli", f"{room}/__init__.py exports nothing"


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: DISTRIBUTIONS[folder][0].name)
def test_what_is_imported_is_declared_and_what_is_declared_is_imported(folder):
    package, never_imported = DISTRIBUTIONS[folder]
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    distributions = packages_distributions()
    imported = set()
    for path in package.rglob("*.py"):
        for name in imported_names(path):
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in {package.name, "yarp"}:  # yarp is no package of PyPI
                found = {canonicalize_name(found) for found in distributions.get(top, [top])}
                assert found & declared, f"{path}: {top} is no dependency in pyproject.toml"
                imported |= found
    assert declared - imported == never_imported


@cache
def public_names(module: str) -> set[str]:
    """Return what ``gradiva`` or a room of it hands on."""
    source = ast.parse((MODULES.parent / module.replace(".", "/") / "__init__.py").read_text(encoding="utf-8"))
    (names,) = (
        node.value
        for node in source.body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]
    )
    return set(ast.literal_eval(names))


def private_uses(node: ast.AST) -> list[str]:
    """Return what a node of a syntax tree takes from ``gradiva`` or an object that is not public."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.startswith("gradiva.")]
    if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "gradiva":
        is_room = str(node.module).count(".") <= 1
        known = public_names(str(node.module)) if is_room else set()
        return [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in known]
    if isinstance(node, ast.Attribute) and re.match("_(?!_)", node.attr):
        owner = ast.unparse(node.value)
        return [] if owner in {"self", "cls", *sys.stdlib_module_names} else [f"{owner}.{node.attr}"]
    return []


def test_experiments_use_gradiva_by_public_names_alone():
    trees = {path: ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(EXPERIMENTS.rglob("*.py"))}
    assert [f"{path}: {use}" for path, nodes in trees.items() for node in nodes for use in private_uses(node)] == []


def test_gradiva_does_not_import_its_experiments():
    naming = {str(path) for path in SOURCES for name in imported_names(path) if name.startswith("gradiva_experiments")}
    assert naming == set()


def defined_names(path: Path) -> set[str]:
    """Return the names of a module and of its functions, classes, variables and attributes."""
    found = {path.stem}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def private_names(path: Path) -> set[str]:
    """Return the private names that a test reads, imports or replaces, its own object's aside."""
    found, texts = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            texts |= {id(part) for part in node.values}
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in {"self", "cls", "os", "sys"}:
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            found.add(node.value.rpartition(".")[2])
    return {name for name in found if re.fullmatch(r"_[A-Za-z]\w*", name)}


TESTS = sorted(path for path in (ROOT / "tests").iterdir() if path.is_dir())
TESTED = {"gradiva_experiments": EXPERIMENTS, "pureyarp": PUREYARP, "bindings": PUREYARP}  # the others: rooms


@pytest.mark.parametrize("folder", TESTS, ids=lambda path: path.name)
def test_tests_of_a_room_use_no_private_names_of_another(folder):
    tests = sorted(folder.rglob("*.py"))
    used = {str(path.relative_to(ROOT)): private for path in tests if (private := private_names(path))}
    sources = [*TESTED.get(folder.name, MODULES / folder.name).rglob("*.py"), *tests] if used else []
    own = set().union(*map(defined_names, sources))
    assert {path: names for path, names in used.items() if names - own} == {}
