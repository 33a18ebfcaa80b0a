"""``cmake --install`` puts applications, the context and the robots where YARP looks."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gradiva.middleware import yarp
from gradiva.yarp_modules.application import application_files, load_application
from gradiva.yarp_modules.module_options import found_file

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    own = Path(sys.executable).parent  # the package cmake of PyPI
    cmake = shutil.which("cmake", path=os.pathsep.join([str(own), os.environ.get("PATH", "")]))
    assert cmake, "cmake is a development dependency: scripts/test installs it"
    configure = [cmake, "-S", str(ROOT), "-B", str(folder / "build"), f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}"]
    for command in (configure, [cmake, "--install", str(folder / "build")]):
        subprocess.run(command, check=True, capture_output=True)
    return folder / "prefix"


@pytest.fixture
def search_path(prefix, tmp_path, monkeypatch):
    monkeypatch.setenv("YARP_DATA_DIRS", str(prefix / "share" / "yarp"))
    monkeypatch.setenv("YARP_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("YARP_CONFIG_DIRS", str(tmp_path / "machine"))
    monkeypatch.chdir(tmp_path)


def test_every_package_is_in_the_wheel_of_one_distribution():
    projects, packages = {}, set()
    for file in (ROOT / "pyproject.toml", *ROOT.glob("modules/*/pyproject.toml")):
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        (package,) = tables["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        projects[tables["project"]["name"]] = str((file.parent / package).relative_to(ROOT))
    for pattern in ("modules/*/__init__.py", "modules/*/*/__init__.py"):
        packages |= {path.parent for path in ROOT.glob(pattern) if not (path.parents[1] / "__init__.py").exists()}
    assert set(projects.values()) == {str(path.relative_to(ROOT)) for path in packages}
    assert projects == {
        "gradiva": "modules/gradiva",
        "gradiva-experiments": "modules/gradiva_experiments/gradiva_experiments",
        "pureyarp": "modules/pureyarp/pureyarp",
    }


def test_the_environment_installs_every_distribution_and_looks_at_its_files():
    script = (
        f"source {ROOT}/scripts/environment; printf '%s\\n' \"${{DISTRIBUTIONS[@]}}\"; fingerprint requirements.lock"
    )
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True)
    *folders, fingerprint = done.stdout.splitlines()
    assert {Path(folder) / "pyproject.toml" for folder in folders} == {
        ROOT / "pyproject.toml",
        *ROOT.glob("modules/*/pyproject.toml"),
    }
    assert int(fingerprint.split()[1]) > sum((Path(folder) / "pyproject.toml").stat().st_size for folder in folders)


def test_everything_is_installed(prefix):
    data = prefix / "share" / "gradiva"
    for source, target in (("apps/*.xml", "applications"), ("config/*.toml", "contexts/gradiva")):
        names = {path.name for path in ROOT.glob(source)}
        assert names
        assert {path.name for path in (data / target).iterdir()} == names
    robots = {path.relative_to(ROOT) for path in ROOT.glob("robots/*/*.toml")}
    assert {path.relative_to(data) for path in data.glob("robots/*/*")} == robots


def test_yarp_finds_the_applications_and_the_files_of_the_context(prefix, search_path):
    finder = yarp.ResourceFinder()
    finder.setQuiet(True)
    finder.configure(["test"])
    places = finder.findPaths("applications")
    assert [places.get(index).asString() for index in range(places.size())] == [
        str(prefix / "share" / "gradiva" / "applications")
    ]
    installed = found_file(Path("plant_noisy.toml"), "gradiva")
    assert installed == prefix / "share" / "gradiva" / "contexts" / "gradiva" / "plant_noisy.toml"


def test_applications_of_other_packages_are_found_by_file_and_by_name(prefix, search_path, monkeypatch):
    folder = prefix / "share" / "gradiva" / "applications"
    path = folder / "others.xml"
    path.write_text("<application><name>of others</name></application>")
    assert application_files()["others"] == path
    assert load_application("of_others").file == path
    path.unlink()


def test_another_prefix_may_be_chosen_at_installation(prefix, tmp_path):
    build = prefix.parent / "build"
    cmake = shutil.which("cmake") or str(Path(sys.executable).parent / "cmake")
    subprocess.run([cmake, "--install", str(build), "--prefix", str(tmp_path)], check=True, capture_output=True)
    text = (tmp_path / "share/yarp/config/path.d/gradiva.ini").read_text(encoding="utf-8")
    assert text == f'[search gradiva]\npath "{tmp_path}/share/gradiva"\n'
