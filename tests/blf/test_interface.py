"""The stand-in has the names of the bindings, and the worker uses no others and imports nothing else."""

import ast
import importlib
import json
import sys
from pathlib import Path

import pytest

from gradiva.blf import worker
from tests.blf.recorded_problems import FOLDER, STAND_IN

BINDINGS = json.loads((FOLDER / "bindings.json").read_text(encoding="utf-8"))
BINDINGS["parameters_handler"]["StdParametersHandler"] = BINDINGS["parameters_handler"]["IParametersHandler"]
CHECKED = (
    *("set_set_point", "set_contact_active"),
    *("set_reference_trajectory", "set_contact_phase_list", "set_state"),
    *("set_default_name", "add_contact", "set_lists"),
)


@pytest.fixture
def stand_in_modules(monkeypatch):
    monkeypatch.syspath_prepend(str(STAND_IN))
    name = "bipedal_locomotion_framework.bindings"
    yield {part: importlib.import_module(f"{name}.{part}") for part in BINDINGS}
    for loaded in [
        each for each in sys.modules if each.partition(".")[0] in ("bipedal_locomotion_framework", "manifpy")
    ]:
        del sys.modules[loaded]


def test_the_stand_in_has_classes_and_set_points_of_the_bindings_alone(stand_in_modules):
    checked = 0
    for part, classes in BINDINGS.items():
        for name, kind in vars(stand_in_modules[part]).items():
            if not isinstance(kind, type) or kind.__module__ != stand_in_modules[part].__name__ or name[0] == "_":
                continue
            assert name in classes, f"{part}.{name}"
            for method in CHECKED:
                if method in vars(kind):
                    arguments = vars(kind)[method].__code__.co_varnames[1 : vars(kind)[method].__code__.co_argcount]
                    assert list(arguments) in classes[name][method], f"{part}.{name}.{method}{arguments}"
                    checked += 1
    assert checked == 16  # set points of nine tasks, the contact of the cone, three inputs of the MPC, its contacts


def test_the_worker_imports_the_standard_library_and_numpy_and_the_framework_when_it_is_asked():
    tree = ast.parse(Path(worker.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= {*sys.stdlib_module_names, "numpy"}


def test_the_worker_calls_no_method_that_the_bindings_lack():
    tree = ast.parse(Path(worker.__file__).read_text(encoding="utf-8"))
    known = {method for classes in BINDINGS.values() for methods in classes.values() for method in methods}
    receivers = ("task", "mpc", "phases", "found", "variables", "handler", "output", "phase")
    called = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in receivers
    }
    assert called - known - {"append", "tobytes"} == set()
