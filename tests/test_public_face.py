"""`import gradiva` offers each noun of the public face, lazily, and the examples of the README use no other name."""

import ast
import importlib
import json
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import gradiva
from gradiva.telemetry import SignalLog

ROOT = Path(__file__).parents[1]
STUB = ROOT / "modules" / "gradiva" / "__init__.pyi"
HEAVY = {"casadi", "daqp", "h5py", "idyntree", "matplotlib", "mujoco", "numpy", "osqp", "scipy", "trimesh", "viser"}


def modules_after(code):
    """Return the top packages that a fresh process has imported after ``code``."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_gradiva_imports_nothing_heavy():
    assert modules_after("import gradiva") & HEAVY == set()


def test_a_first_plan_needs_no_simulator_and_no_solver_of_a_predictive_law():
    plan = 'gradiva.WalkingPlanner(gradiva.load_robot("icub_v3")).plan(gradiva.VelocityCommand(0.2, duration=2.0))'
    needed = {"casadi", "daqp", "idyntree", "numpy"}
    assert modules_after(f"import gradiva\n{plan}") & HEAVY == needed


@pytest.mark.parametrize("name", sorted(set(gradiva.__all__) - {"__version__"}))
def test_every_noun_is_what_its_room_hands_on_and_says_what_it_is(name):
    found = getattr(gradiva, name)
    (room,) = re.findall(rf"^from (\S+) import {name} as {name}$", STUB.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is getattr(importlib.import_module(room), name)
    assert found.__doc__
    assert name in dir(gradiva)
    members = vars(found).items() if isinstance(found, type) else ()
    kinds = (property, classmethod, staticmethod, cached_property)
    methods = [(member, each) for member, each in members if callable(each) or isinstance(each, kinds)]
    assert [member for member, each in methods if member[0] != "_" and not each.__doc__] == []


def test_an_unknown_noun_is_an_attribute_error_with_the_nearest_name():
    with pytest.raises(AttributeError, match=r"no attribute 'Walkingplanner'; did you mean 'WalkingPlanner'\?"):
        _ = gradiva.Walkingplanner


NOTEBOOK = sorted(path for name in ("inverse_kinematics", "torque_control", "planning", "own_planner", "own_estimator")
                  for path in (ROOT / "examples" / name).glob("*.py"))  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOK, ids=lambda path: path.stem)
def test_an_example_is_short_and_uses_the_public_face_alone(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert not node.module.startswith("gradiva"), f"{path.name} imports from {node.module}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gradiva":
            assert node.attr in gradiva.__all__


def example(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples" / name.partition("/")[0]))
    return importlib.import_module(name.partition("/")[2])


def test_a_hand_and_the_centre_of_mass_follow_targets(monkeypatch):
    errors = example("inverse_kinematics/reach", monkeypatch).reach(3.0)
    assert errors["hand"] < 1e-3
    assert errors["com"] < 1e-3
    assert errors["feet"] < 1e-6


@pytest.mark.walk
def test_a_robot_of_ones_own_balances_on_two_named_contacts(monkeypatch):
    result = example("torque_control/balance", monkeypatch).balance(2.0)
    assert result["time"] == pytest.approx(2.0, abs=2e-3), "it fell"
    assert result["error"] < 0.02
    assert result["tilt"] < 0.02
    assert 0.3 * 373.0 < result["load"] < 0.7 * 373.0


def test_laws_alone_lead_a_pendulum_back_to_a_plan(monkeypatch):
    follow = example("planning/follow_plan", monkeypatch).follow
    slow, fast = follow(gradiva.DcmController), follow(gradiva.DcmMpc)
    assert slow["steps"] == fast["steps"] == 8
    assert slow["distance"] == pytest.approx(0.84, abs=0.02)
    robot = gradiva.load_robot("icub_v3")
    gain, height = robot.setup.walking.dcm_controller.proportional_gain, robot.description.com_height
    decay = np.exp(-np.sqrt(9.81 / height) * (gain - 1.0))
    assert 0.0 < slow["later"] < slow["pushed"] * (decay + 0.6)
    assert fast["later"] < 5e-4
    assert fast["pushed"] == pytest.approx(0.02, abs=1e-3)


def test_a_log_in_a_notebook(tmp_path, monkeypatch):
    log = SignalLog.from_arrays([0.0, 0.5], {"dcm::x": np.array([1.0, 2.0]), "zmp": np.array([[1.0, 2.0], [3.0, 4.0]])})
    assert repr(log) == "<SignalLog: 2 signals, 2 ticks from 0.00 to 0.50 s>"
    assert [axis.get_title(loc="left") for axis in log.plot("zmp").axes] == ["zmp [-]"]
    assert len(log.plot().axes) == 2
    assert (
        log.save(tmp_path / "log.csv").read_text(encoding="utf-8").splitlines()[0]
        == "time,dcm::x,zmp::element_0,zmp::element_1"
    )
    monkeypatch.setitem(sys.modules, "pandas", FakePandas)
    frame = log.to_dataframe()
    assert list(frame.columns) == ["dcm::x", "zmp::element_0", "zmp::element_1"]
    np.testing.assert_array_equal(frame.columns["zmp::element_1"], [2.0, 4.0])
    np.testing.assert_array_equal(frame.index, [0.0, 0.5])


class FakePandas:
    """Stands in for pandas, which is no dependency."""

    class DataFrame:
        def __init__(self, columns, index):
            self.columns, self.index = columns, index

    @staticmethod
    def Index(values, name):  # noqa: N802
        return values
