"""An experiment of a package outside of Gradiva, as in examples/own_experiment."""

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from gradiva.common import ConfigError
from gradiva.experiments import ExperimentOptions, Trial, TrialPool, all_experiments, find_experiment

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_experiment"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what makes a package's entry points known, as an installation of it does."""

    def as_installed(project, folder):
        entries = tomllib.loads(project.read_text())["project"]["entry-points"]
        metadata = tmp_path / "own-0.1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 0.1.0\n")
        lines = [f"[{group}]\n{name} = {value}" for group, names in entries.items() for name, value in names.items()]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()

    yield as_installed
    sys.modules.pop("swing_cost", None)


def test_an_installed_package_adds_an_experiment(install):
    assert "swing_cost" not in all_experiments()
    install(EXAMPLE / "pyproject.toml", EXAMPLE)
    assert all_experiments()["swing_cost"].value_title == "cost [J/kg/m]"
    assert len(all_experiments()) == 24


@pytest.mark.walk
def test_the_example_walks_and_fulfils_its_rows(install, tmp_path):
    install(EXAMPLE / "pyproject.toml", EXAMPLE)
    experiment = find_experiment("swing_cost")
    with TrialPool(workers=1) as pool:
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


def test_a_package_that_cannot_be_loaded_is_listed_with_the_reason(install, tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[project.entry-points."gradiva.experiments"]\nbroken = "no_such_module:EXPERIMENT"\n')
    install(project, tmp_path)
    broken = all_experiments()["broken"]
    assert "no_such_module" in broken.description
    with pytest.raises(ConfigError, match="no_such_module"):
        broken.run(None)


def test_what_is_no_experiment_is_refused_by_its_type(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    with pytest.raises(ConfigError, match=r"'swing_cost:SPEED' .* is a float, no gradiva.experiments.Experiment"):
        find_experiment("swing_cost:SPEED")
