"""What is written about Gradiva is true: links lead somewhere, files are named, nothing tells of one machine."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gradiva.cli.commands import app
from gradiva.setup import load_robot
from gradiva.yarp_modules.gradiva_module import MODULES as PROGRAMS
from gradiva.yarp_modules.gradiva_module import GradivaModule, module_class
from gradiva.yarp_modules.module_options import parse_options
from gradiva_experiments import command
from gradiva_experiments.campaign import command as campaign_command
from gradiva_experiments.campaign import tune
from tests.pureyarp.network.raw_sockets import free_port

ROOT = Path(__file__).parents[1]
MODULES = ROOT / "modules" / "gradiva"
EXPERIMENTS = ROOT / "modules" / "gradiva_experiments"
SITE = ROOT / "docs"
RECIPE_PAGE = SITE / "how_to" / "extend.md"
ROOMS = [*sorted(path.parent for path in MODULES.glob("*/__init__.py")), ROOT / "modules" / "pureyarp", EXPERIMENTS]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "*/*.md", "*/*/*.md", "modules/*/*/*.md", "modules/*/*/*/*.md")
    for path in ROOT.glob(pattern)
)
MACHINE_PATH = re.compile(r"(?<![\w.$~}/-])/(home|root|Users|work|workspace|workspaces|mnt|media|scratch)/[\w.-]+")
REGISTRY = re.compile(r"index[-]url|find[-]links|trusted[-]host|file:/{3}", re.IGNORECASE)
PINNED = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+")


def tracked_files() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, "the tests run in a git checkout"
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # a picture


def tracked_documents() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".md"]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_rooms_readme_names_every_file(room):
    assert (room / "README.md").is_file(), f"{room.name} has no README.md"
    for source in room.rglob("*.py"):
        readme = nearest_readme(source)
        text = readme.read_text(encoding="utf-8")
        noun = "".join(word.capitalize() for word in source.stem.split("_"))
        named = source.name == "__init__.py" or source.stem in text or noun in text
        assert named, f"{readme.relative_to(ROOT)} does not name {source.name}"


def nearest_readme(source: Path) -> Path:
    return next(folder / "README.md" for folder in source.parents if (folder / "README.md").is_file())


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_rooms_readme_names_no_file_that_is_gone(room):
    readme = room / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    for name in re.findall(r"`(\w+\.py)`", text):
        assert (room / name).is_file() or list((ROOT / "modules").rglob(name)), (
            f"{room.name}/README.md: there is no {name}"
        )


def test_every_robot_and_the_configuration_have_a_readme():
    robots = [path.parent for path in ROOT.glob("robots/*/robot.toml")]
    assert robots
    for folder in [ROOT / "robots", ROOT / "config", *robots]:
        assert (folder / "README.md").is_file(), f"{folder.relative_to(ROOT)} has no README.md"
    overview = (ROOT / "robots" / "README.md").read_text(encoding="utf-8")
    for robot in robots:
        assert f"{robot.name}/README.md" in overview, f"robots/README.md does not link {robot.name}"


def test_the_table_of_the_robots_tells_what_their_descriptions_tell():
    overview = (SITE / "robots" / "index.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in overview.splitlines() if "|" in line]
    table = {row[0]: row[1:] for row in reversed(rows)}
    for column, name in enumerate(("icub_v2_7", "icub_v3", "talos", "g1")):
        robot = load_robot(name)
        assert name in table[""][column]
        assert table["mass"][column] == f"{robot.mass:.1f} kg"
        assert table["actuated joints"][column] == str(len(robot.joints))
        assert table["CoM height of walking"][column] == f"{robot.com_height:g} m"
        assert table["commanded speed up to"][column] == f"{robot.max_speed:.2f} m/s"
        assert table["by torque up to"][column] == f"{robot.max_torque_speed:.2f} m/s"


def test_the_page_of_the_configuration_names_every_file_and_table():
    text = (SITE / "how_to" / "configure.md").read_text(encoding="utf-8")
    for path in (ROOT / "config").glob("*.toml"):
        assert f"`{path.name}`" in text, f"configure.md does not name {path.name}"
        for table in tomllib.loads(path.read_text(encoding="utf-8")):
            assert f"[{table}" in text, f"configure.md does not name [{table}] of {path.name}"


def test_links_lead_somewhere():
    for document in tracked_documents():
        for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8")):
            if not target.startswith(("http", "mailto:")) and "reference/generated/" not in target:  # see test_site
                assert (document.parent / target).exists(), f"{document.relative_to(ROOT)}: no {target}"


def test_no_file_tells_of_the_machine_it_was_written_on():
    for path in tracked_files():
        text = text_of(path)
        for pattern in (MACHINE_PATH, REGISTRY):
            found = pattern.search(text)
            assert found is None, f"{path.relative_to(ROOT)}: {found.group()}"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock", "requirements-docs.lock"])
def test_lock_files_hold_names_and_versions_alone(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) > 10
    for line in pins:
        assert PINNED.fullmatch(line), f"{name}: {line}"


@pytest.mark.parametrize(("extra", "files"), [("dev", ["requirements-dev.lock"]), ("docs", ["requirements-docs.lock"])])
def test_lock_files_satisfy_the_declared_ranges(extra, files):
    declaring = (ROOT / "pyproject.toml", *ROOT.glob("modules/*/pyproject.toml"))
    projects = [tomllib.loads(file.read_text(encoding="utf-8"))["project"] for file in declaring]
    own, locked = {project["name"] for project in projects}, {}
    for name in ("requirements.lock", *files):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                package, _, version = line.partition("==")
                locked[canonicalize_name(package)] = version
    dependencies = [line for project in projects for line in project["dependencies"]]
    for declared in dependencies + projects[0]["optional-dependencies"][extra]:
        requirement = Requirement(declared)
        if requirement.name in own:
            continue
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not locked: run scripts/lock"
        assert version in requirement.specifier, f"{requirement.name} {version}: run scripts/lock"


RECIPES = {  # what the files of an existing example of each kind say, and the folders that a recipe is about
    "A task of the whole-body controller": ("pelvis", ("whole_body", "walking")),
    "A law of layer 2": (r"\bDcmMpc\b", ("simplified_model", "walking", "yarp_modules", "cli")),
    "An experiment": ("run_directions", ("../gradiva_experiments",)),
    "A ground": (
        r"GroundKind\.PENALTY|\bPENALTY = |class PenaltyGround",
        ("simulation", "cli", "simulated_walk", "../gradiva_experiments"),
    ),
}


@pytest.mark.parametrize("kind", RECIPES)
def test_a_recipe_names_every_file_that_an_example_of_its_kind_touches(kind):
    mark, rooms = RECIPES[kind]
    text = RECIPE_PAGE.read_text(encoding="utf-8")
    recipe = text[text.index(f"**{kind}**") :].partition("\n**")[0]
    sources = [path for room in rooms for path in (MODULES / room).rglob("*.py") if path.name != "__init__.py"]
    touched = {path.name for path in sources if re.search(mark, text_of(path))}
    assert touched
    assert {name for name in touched if name not in recipe} == set()


def test_the_files_that_recipes_name_exist():
    text = RECIPE_PAGE.read_text(encoding="utf-8")
    recipes = text[text.index("## Recipes") :]
    for name in re.findall(r"`([\w/]+\.(?:py|toml))`", recipes):
        found = (ROOT / name).is_file() or list(MODULES.parent.glob(f"**/{name}"))
        assert found, f"{RECIPE_PAGE.name} names {name}"
    words = {word for path in (ROOT / "modules").rglob("*.py") for word in re.findall(r"\w+", text_of(path))}
    for name in re.findall(r"`([A-Za-z_]\w+)`", recipes):
        assert name in words, f"{RECIPE_PAGE.name} names {name}"


def options_of(kind: type[GradivaModule]) -> list[str]:
    with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()) as printed:
        parse_options(["--help"], kind.TITLE, kind.SUMMARY, kind.OPTIONS, False)
    return re.findall(r"--[a-z][a-z-]*", printed.getvalue())


def test_the_options_that_readme_and_pages_name_exist():
    waiting, options = (
        [typer.main.get_command(each) for each in (app, command.app, campaign_command.app, tune.app)],
        set(),
    )
    while waiting:
        each = waiting.pop()
        options |= {name for option in each.params for name in (*option.opts, *option.secondary_opts)}
        waiting += getattr(each, "commands", {}).values()
    options |= {"--help", *(name for kind in map(module_class, PROGRAMS) for name in options_of(kind))}
    for page in (ROOT / "README.md", SITE / "troubleshooting.md", *(SITE / "how_to").glob("*.md")):
        commands = re.findall(r"\b(?:gradiva|scripts/walk) [^`\n]*|`--[^`]*`", page.read_text(encoding="utf-8"))
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "\n".join(commands)))
        assert named <= options, f"{page.relative_to(ROOT)} names {sorted(named - options)}"


def example_of(page: str, about: str) -> str:
    text = (SITE / "how_to" / page).read_text(encoding="utf-8")
    (example,) = (code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if about in code)
    return example


def test_the_example_of_ports_talks(tmp_path):
    (tmp_path / "yarp.conf").write_text(f"127.0.0.1 {free_port()} yarp\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("YARP_")}
    environment |= {"YARP_CONFIG_HOME": str(tmp_path), "GRADIVA_YARP": "pureyarp"}
    command = [sys.executable, "-c", example_of("over_yarp.md", "BufferedPortBottle")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60.0, check=False)
    assert done.stdout == "hello (1 2.5) [ok]\n"
    assert done.returncode == 0


@pytest.mark.walk
def test_the_example_of_a_notebook_walks(capsys):
    exec(compile(example_of("notebook.md", "SimulatedWalk"), "notebook.md", "exec"), {})
    printed = capsys.readouterr().out
    x, y, _, error = (float(number) for number in re.findall(r"-?\d+\.\d+", printed))
    assert printed.startswith("None")
    assert abs(x - 2.0) < 0.1
    assert abs(y - 0.5) < 0.1
    assert error < 0.05
