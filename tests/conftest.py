"""Models and fixtures that tests of several rooms share."""

import gc
import importlib
import os
import signal
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from gradiva.robot_model import IdynTreeModel, RobotDescription
from gradiva.setup import GccCompiler, cache_folder, describe_robot, is_installed, load_robot

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a shell's background job, and of all that it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["GRADIVA_DUMPS"] = "none"  # modules of tests keep no black box but where a test is about it
os.environ["XDG_DATA_HOME"] = "/nowhere"  # no test depends on how healthy this user's robots are
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")  # empty where the tests run in one process
ROBOTS = ("g1", "icub_v2_7", "icub_v3", "talos")
ERGOCUB = pytest.param(
    "ergocub",
    marks=pytest.mark.skipif(
        not is_installed(describe_robot("ergocub")),
        reason="the model of ergoCub is not installed: conda package ergocub-models, or ROS_PACKAGE_PATH",
    ),
)
EVERY_ROBOT = (*ROBOTS, ERGOCUB)
"""All shipped robots; ergoCub's model comes with no package that Gradiva depends on."""


def long(*values: object) -> ParameterSet:
    """Return the values of one run of a test of which the others suffice but before a release."""
    return pytest.param(*values, marks=pytest.mark.long)


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also the tests that are marked as long")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let every second worker go through the folders from their ends.

    In a fresh checkout each then compiles one half of the tests, and finds the other one compiled.
    """
    report = yield
    if int(WORKER.removeprefix("gw") or 0) % 2 and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what is marked as long, unless it is asked for by ``--long``, ``-m long`` or its own name."""
    if WORKER:
        items.sort(key=lambda item: item.path.parts)  # the same order for all of them
    if config.getoption("--long") or "long" in config.getoption("-m"):
        return
    named = tuple(argument for argument in config.args if "::" in argument)
    left_out = [item for item in items if item.get_closest_marker("long") and not item.nodeid.startswith(named or "::")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@lru_cache
def description_of(name: str) -> RobotDescription:
    return load_robot(name)


@lru_cache
def model_of(name: str) -> IdynTreeModel:
    return IdynTreeModel(description_of(name))


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Leave what exists already out of later garbage collections, of which a walk makes four.

    Thousands of collected tests are 0.3 s in each of them, a third of all that a walk takes.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def reference():
    """Return the package that generates the reference of the site, which is no part of Gradiva."""
    folder = str(Path(__file__).parents[1] / "docs")
    sys.path.insert(0, folder)
    yield importlib.import_module("reference_pages")
    sys.path.remove(folder)


@pytest.fixture(scope="session")
def compiler():
    return GccCompiler(cache_folder())


@pytest.fixture(params=EVERY_ROBOT)
def model(request) -> IdynTreeModel:
    return model_of(request.param)


@pytest.fixture
def icub() -> IdynTreeModel:
    return model_of("icub_v2_7")
