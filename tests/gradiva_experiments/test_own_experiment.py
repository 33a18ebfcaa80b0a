"""An experiment of a package outside of Gradiva, as in examples/own_experiment."""

import sys

import pytest

from gradiva.common import ConfigError
from gradiva_experiments import ExperimentOptions, Pool, Trial, all_experiments, find_experiment
from tests.installed import EXAMPLES, install

EXAMPLE = EXAMPLES / "own_experiment"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    yield install(EXAMPLE, tmp_path / "site", monkeypatch)
    sys.modules.pop("swing_cost", None)


def test_an_installed_package_adds_an_experiment(installed):
    assert all_experiments()["swing_cost"].value_title == "cost [J/kg/m]"
    assert len(all_experiments()) == 53


@pytest.mark.walk
def test_the_example_walks_and_fulfils_its_rows(installed, tmp_path):
    experiment = find_experiment("swing_cost")
    with Pool(workers=1) as pool:
        run = experiment.start(ExperimentOptions(quick=True), tmp_path, pool, lambda done, total, text: None)
        experiment.run(run)
    low, high = run.rows
    assert run.is_fulfilled
    assert (low["swing_height_m"], high["swing_height_m"]) == (0.02, 0.03)
    assert 1.0 < low["value"] < 100.0
    assert Trial("icub_v2_7", None, {"planner.swing_height": 0.03}).setup().walking.planner.swing_height == 0.03


def test_without_an_installation_it_is_found_by_its_module(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    assert find_experiment("swing_cost:EXPERIMENT").name == "swing_cost"


def test_a_package_that_cannot_be_loaded_is_listed_with_the_reason(tmp_path, monkeypatch):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\n[project.entry-points."gradiva.experiments"]\nbroken = "no_such_module:EXPERIMENT"\n'
    )
    install(tmp_path, tmp_path / "site", monkeypatch)
    broken = all_experiments()["broken"]
    assert "no_such_module" in broken.description
    with pytest.raises(ConfigError, match="no_such_module"):
        broken.run(None)


def test_what_is_no_experiment_is_refused_by_its_type(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    with pytest.raises(ConfigError, match=r"'swing_cost:SPEED' .* is a float, no gradiva_experiments.Experiment"):
        find_experiment("swing_cost:SPEED")
