"""The wheel needs numpy and nothing else: installed with it alone, the programs of the README do what it says."""

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from pureyarp.network.name_server import NameServer

DISTRIBUTION = Path(__file__).parents[2] / "modules" / "pureyarp"
README = DISTRIBUTION / "README.md"
PAGE = DISTRIBUTION.parents[1] / "docs" / "how_to" / "yarp_programs.md"
LOADED = """
import sys
before = set(sys.modules)
import pureyarp as yarp
assert yarp.Bottle("1 (2.5 x)").get(1).asList().get(0).asFloat64() == 2.5
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - set(sys.stdlib_module_names)))
"""


def pip(*words: str) -> None:
    """Run pip without the network."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel; hatchling is a development dependency."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder), str(DISTRIBUTION))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory) -> str:
    """Return the Python of an environment that holds the wheel and numpy."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    numpy = distribution("numpy")
    for name in {file.parts[0] for file in numpy.files or () if ".." not in file.parts}:
        (packages / name).symlink_to(Path(str(numpy.locate_file(name))))
    interpreter = str(folder / "bin" / "python")
    pip("--python", interpreter, "install", "--no-index", str(wheel))  # fails if it needed more than numpy
    return interpreter


def program(heading: str) -> str:
    """Return the code below a heading of the README, or of the page of programs."""
    text = README.read_text(encoding="utf-8") + PAGE.read_text(encoding="utf-8")
    (section,) = (part for part in re.split(r"^## ", text, flags=re.MULTILINE) if part.startswith(f"{heading}\n"))
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return code


@pytest.fixture
def environment(own_name_server: NameServer, isolated_config_home: Path) -> dict[str, str]:
    """Return the environment of programs that find the name server of this test."""
    own_name_server.write_file(isolated_config_home / "yarp.conf")
    return {**os.environ, "YARP_CONFIG_HOME": str(isolated_config_home)}


@contextmanager
def running(python: str, code: str, environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    """Run a program until the end of the block."""
    with subprocess.Popen([python, "-I", "-c", code], env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def output_of(python: str, code: str, environment: dict[str, str]) -> str:
    """Run a program to its end and return what it prints."""
    command = [python, "-I", "-c", code]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60.0, check=True).stdout


def test_the_wheel_holds_every_source_and_its_version(wheel):
    project = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert wheel.name == f"pureyarp-{project['version']}-py3-none-any.whl"
    sources = {str(path.relative_to(DISTRIBUTION)) for path in DISTRIBUTION.glob("pureyarp/**/*.py")}
    assert len(sources) > 40
    assert sources | {"pureyarp/py.typed"} <= set(ZipFile(wheel).namelist())


def test_nothing_but_numpy_is_loaded_with_it(python, tmp_path):
    done = subprocess.run([python, "-I", "-c", LOADED], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.stdout, done.stderr) == ("numpy pureyarp\n", "")


def test_no_source_of_it_names_gradiva():
    sources = list(DISTRIBUTION.glob("pureyarp/**/*.py"))
    assert [str(path) for path in sources if "gradiva" in path.read_text(encoding="utf-8")] == []


def test_the_client_reads_what_the_server_sends(python, environment):
    with running(python, program("A server"), environment):
        lines = output_of(python, program("A client"), environment).splitlines()
    counts = [int(line.split()[0]) for line in lines]
    assert [line.split()[1:] for line in lines] == [["battery", "26.4"]] * 3
    assert counts == sorted(set(counts))


def test_the_rpc_client_gets_the_sum(python, environment):
    assert output_of(python, program("RPC"), environment) == "True 7.5\n"


def test_the_control_board_follows_its_client(python, environment):
    assert output_of(python, program("A control board"), environment) == "elbow 12.5\n"


@pytest.mark.parametrize("heading", ["A server", "A client", "RPC", "A control board"])
def test_a_program_of_the_readme_is_short(heading):
    assert len([line for line in program(heading).splitlines() if line]) <= 22
