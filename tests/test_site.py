"""The generated reference has every key, signal, RPC command and error; documents keep their budgets of words."""

import importlib
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import gradiva
from gradiva.safety import SafetyKind
from gradiva.session import coordinator_commands
from gradiva.setup import installed_robot_names, shipped_robot_names
from gradiva.yarp_modules.gradiva_module import MODULES, module_class
from tests.cli.test_walk_command import CONTRACT

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs"
PACKAGES = ROOT / "modules"
OWN_TABLES = ("tasks", "planners", "estimators", "whole_body_controllers")  # tables of the user's own


@pytest.fixture(scope="module")
def pages(reference):
    return reference.pages()


def keys_of(table, path=""):
    for name, value in table.items():
        inner = f"{path}.{name}" if path else name
        yield from keys_of(value, inner) if isinstance(value, dict) else [inner]


def test_every_key_of_the_configuration_is_on_a_page_with_its_value(pages):
    text = "\n".join(text for name, text in pages.items() if name.startswith("configuration_"))
    files = [*ROOT.glob("config/*.toml"), *(path for path in ROOT.glob("robots/*/*.toml") if path.name != "robot.toml")]
    keys = {key for path in files for key in keys_of(tomllib.loads(path.read_text(encoding="utf-8")))}
    rows = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]*) \|", text, re.MULTILINE))
    assert len(keys) > 300
    assert {key for key in keys if key not in rows} == set()
    assert rows["walking.period"].startswith("`0.01`: number, s, in (0, 0.05] (")


def test_a_key_has_unit_type_meaning_and_the_robots_that_differ(pages):
    (row,) = re.findall(
        r"^\| `zmp_com_controller.walking.zmp` .*$", pages["configuration_simplified_model"], re.MULTILINE
    )
    _, _, default, meaning, differs, _ = (cell.strip() for cell in row.split("|"))
    assert re.fullmatch(r"`[0-9.]+`: number, 1/s, not negative", default)
    assert len(meaning) > 20
    assert "icub_v2_7" in differs


def test_every_rpc_command_of_the_modules_is_on_the_page(pages):
    assert {name for name in MODULES if f"## {name}\n" not in pages["rpc"]} == set()
    words = [line.split()[0] for name in MODULES for line in module_class(name).COMMANDS]
    assert len(words) > 25
    for word in (*words, *coordinator_commands.Word, "help", "getHealth", "quit"):
        assert f"`{word}" in pages["rpc"]


def test_every_error_and_safety_kind_has_its_row_and_its_mend(reference, pages):
    interfaces = importlib.import_module("reference_pages.interfaces")
    mends = (SITE / "troubleshooting.md").read_text(encoding="utf-8")
    names = [*(kind.__name__ for kind in interfaces.error_classes()), *(str(kind.value) for kind in SafetyKind)]
    assert len(names) > 40
    for name in names:
        assert f"`{name}`" in pages["errors"]
        assert f"`{name}`" in mends, f"docs/troubleshooting.md does not name {name}"


def test_each_error_event_and_refusal_has_a_cause_and_a_mend():
    page = (SITE / "troubleshooting.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")
    ]
    without = {"`WalkingError`", "`NetworkError`, `YarpError`"}  # the roots
    assert len(rows) > 60
    assert [row[0] for row in rows if not all(row[:3]) and row[0] not in without] == []


def test_the_commands_of_the_terminal_are_those_of_the_page(reference, pages):
    commands = importlib.import_module("reference_pages.commands").all_commands()
    assert {"gradiva walk", "gradiva yarp read", "gradiva app run", "gradiva robots new"} <= set(commands)
    assert re.findall(r"^## (gradiva.*)$", pages["commands"], re.MULTILINE) == [
        *sorted(commands),
        *(f"gradiva module {name}" for name in MODULES),
    ]
    assert re.search(r"\| `--speed [A-Z/]+`", pages["commands"])


def test_every_signal_of_a_controller_is_on_the_page(reference, pages):
    signals = importlib.import_module("reference_pages.signals")
    names = re.findall(r'"([a-z_]+::[a-z_:]+)"', Path(signals.walking_log.__file__).read_text(encoding="utf-8"))
    written = {name for name in names if not name.endswith("::")}
    assert len(written) > 25
    assert {name for name in written if f"`{name}`" not in pages["signals"]} == set()
    assert "| `dcm::position::measured` | x, y | m |" in pages["signals"]
    assert signals.is_named("tick::whole_body")
    assert not signals.is_named("dcm::position")


def test_every_frame_and_joint_of_a_robot_is_on_the_page(reference, pages):
    frames = importlib.import_module("reference_pages.frames")
    sections = re.split(r"^## ", pages["frames"], flags=re.MULTILINE)[1:]
    assert {section.split()[0] for section in sections} == set(installed_robot_names())
    for section in sections:
        names = frames.names_of(section.split()[0])
        assert all(f"`{name}`" in section for group in names.values() for name in group)
        assert len(names["Links"]) > len(names["Joints"]) > 20


def test_the_page_of_what_is_stable_lists_what_the_code_has(reference, pages):
    found = dict(re.findall(r"^### (.*)\n\n(.*)$", pages["interface"], re.MULTILINE))
    listed = {part: set(re.findall(r"`([^`]+)`", names)) for part, names in found.items()}
    interfaces, signals, configuration, commands = (
        importlib.import_module(f"reference_pages.{name}")
        for name in ("interfaces", "signals", "configuration", "commands")
    )
    groups = {registry.group for registry in interfaces.registries()}
    assert listed["Python names"] == set(gradiva.__all__)
    assert listed["Commands of the terminal"] == set(commands.all_commands())
    assert listed["Log signals"] == set(signals.all_signals())
    assert listed["Tables of the configuration"] == {key.split(".")[0] for key in configuration.all_keys()}
    assert listed["Error classes"] == {kind.__name__ for kind in interfaces.error_classes()}
    assert listed["Kinds of safety events"] == {kind.value for kind in SafetyKind}
    assert listed["Plug-in points"] == groups | {"gradiva.commands", "gradiva.experiments", "gradiva.robots"}
    assert {word.value for word in coordinator_commands.Word} | {"help", "getHealth"} <= listed["RPC commands"]
    assert listed["Keys of `result.json`"] >= {"healthy", "stability_margins", *CONTRACT}
    assert {"…/goal:i", "…/logger", "…/rpc", "…/health:o", "…/plan:o", "…/desired:o"} <= listed["Ports"]
    assert f"version {gradiva.__version__}." in pages["interface"]
    given = {f"{room}.{name}" for each in interfaces.GIVEN.values() for room, name in each}
    assert (
        listed.pop("Types that methods of one's own classes are given")
        == given
        >= {"gradiva.whole_body.WholeBodyReference"}
    )
    assert all(len(names) > 10 for names in listed.values())


def test_versions_are_one():
    files = [
        ROOT / "pyproject.toml",
        *(PACKAGES / name / "pyproject.toml" for name in ("gradiva_experiments", "pureyarp")),
    ]
    projects = [tomllib.loads(file.read_text(encoding="utf-8"))["project"] for file in files]
    assert {project["version"] for project in projects} == {gradiva.__version__}
    needed = " ".join(dependency for project in projects for dependency in project["dependencies"])
    assert re.findall(r"(?:gradiva|pureyarp)>=([\d.]+)", needed) == [gradiva.__version__.rpartition(".")[0]] * 2
    assert f"\n## [{gradiva.__version__}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_noun_of_the_public_face_is_documented(pages):
    text = "\n".join(text for name, text in pages.items() if name.startswith("python_"))
    assert {name for name in {*gradiva.__all__} - {"__version__"} if f"## {name}\n" not in text} == set()
    assert all(f"### {name}\n" in text for name in ("SymbolicDynamics", "SymbolicFrame", "SupportPolygon"))


def test_links_to_generated_pages_lead_somewhere(pages):
    for document in markdown():
        for name in re.findall(r"\]\([^)#\s]*reference/generated/(\w+)\.md", document.read_text(encoding="utf-8")):
            assert name in pages, f"{document.relative_to(ROOT)}: no generated page {name}"


def test_the_keys_that_pages_name_exist(reference):
    keys = list(importlib.import_module("reference_pages.configuration").all_keys())
    known = {".".join(key.split(".")[:count]) for key in keys for count in range(1, key.count(".") + 2)}
    tables = {key.split(".")[0] for key in keys}
    for page in [
        *SITE.glob("*.md"),
        *SITE.glob("how_to/*.md"),
        *SITE.glob("tutorials/*.md"),
        *SITE.glob("robots/*.md"),
    ]:
        named = re.findall(r"[`\" ]([a-z_]+(?:\.[a-z_0-9]+)+)(?==|`)", page.read_text(encoding="utf-8"))
        named = [name for name in named if name.split(".")[0] in tables and not name.endswith((".toml", ".py"))]
        assert [name for name in named if name not in known] == [], page.relative_to(ROOT)


def test_keys_that_no_shipped_file_sets_are_on_the_page_of_their_layer(pages):
    page = pages["configuration_whole_body"]
    assert "## [whole_body]" in page
    assert re.search(r"`whole_body\.backend`.*`\"gradiva\"`", page)
    assert re.search(r"## \[blf\](?s:.*)`blf\.python`", page)


def test_a_number_has_its_unit_and_its_range_on_the_page_of_its_file(pages):
    keys = importlib.import_module("reference_pages.configuration").all_keys().values()
    assert [key.path for key in keys if key.key.type in ("number", "integer") and not key.unit] == []
    assert [key.path for key in keys if set(key.unit) & set("'\"`")] == []  # a value in brackets is no unit
    rows = [line for line in pages["configuration_step_adaptation"].splitlines() if "hip_strategy.sideways" in line]
    assert len(rows) == 1
    assert "`0.0`: number, rad, in [0, 1] |" in rows[0]
    assert "g1: `0.4`" in rows[0]


def test_every_result_was_published_by_a_campaign_and_says_where_it_comes_from():
    files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in ROOT.glob("results/*.json")}
    for name, file in files.items():
        assert {"command", "date", "commit", "machine"} <= file.keys(), name
        assert all((ROOT / "results" / figure).is_file() for figure in file.get("figures", [])), name
    assert [name for name, file in files.items() if "rows" not in file] == ["peers"]
    figures = {figure for file in files.values() for figure in file.get("figures", [])}
    assert {path.name for path in ROOT.glob("results/*.png")} == figures


def test_pages_show_runs_or_the_command_that_makes_them(reference):
    results = importlib.import_module("reference_pages.results")
    shown = [
        match.groups()
        for path in SITE.rglob("*.md")
        for match in re.finditer(r"^```\{result\} runs (\w+) ?(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    published = {results.read(path)["name"] for path in results.published_paths()}
    assert published - {"reference_bands"} <= {name for name, _ in shown}  # the bands have a page of their own
    texts = [results.runs_text(*run) for run in shown]
    kinds = [
        ("commit" in text, f"gradiva experiment {run[0]} --publish`: " in text or "FOLDER --publish`" in text)
        for run, text in zip(shown, texts, strict=True)
    ]
    assert set(kinds) == {(True, False), (False, True)}


def test_what_is_not_reached_is_named_with_its_reason(reference, monkeypatch, tmp_path):
    results = importlib.import_module("reference_pages.results")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    met = {"plant": "ideal", "value": 1.0, "outcome": "walked", "reason": ""}
    rows = [met, {"plant": "robot", "value": 0.5, "outcome": "fell", "reason": "too fast"}]
    run = {"name": "robustness", "command": "gradiva experiment robustness", "rows": rows}
    (tmp_path / "missed.json").write_text(json.dumps(run))
    (tmp_path / "met.json").write_text(json.dumps({**run, "rows": rows[:1]}))
    text = results.not_reached_text()
    assert text.startswith("1 of 2 published runs")
    assert "`gradiva experiment robustness`: **Not reached: 1 of 2 rows.**\n  - robot, 0.5, fell: too fast\n" in text
    (tmp_path / "missed.json").write_text(json.dumps({**run, "rows": rows[1:] * 9}))
    assert "9 of 9 rows.**\n" in results.not_reached_text()
    assert "too fast" not in results.not_reached_text()


def test_maps_are_shown_as_sums_with_the_range_of_their_own_cells_and_swings_as_totals(
    reference, monkeypatch, tmp_path
):
    results = importlib.import_module("reference_pages.results")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    judged = {"outcome": "measured", "reason": "", "mode": "off", "paper": None}
    impulses = {"g1": (5.0, 20.0), "talos": (22.5, 75.5)}
    rows = [{**judged, "robot": name, "phase": "late", "value": one} for name, both in impulses.items() for one in both]
    rows += [{**judged, "robot": name, "phase": "sum", "value": sum(both)} for name, both in impulses.items()]
    common = {"date": "", "commit": "", "machine": "", "figures": [], "value_title": "value", "paper_title": "paper"}
    swings = [{**judged, "time_s": time, "value": value} for time, value in ((0.4, 0.123), ("all", 0.456))]
    for name, found in (("push_recovery", rows), ("swing_lag", swings)):
        run = {**common, "name": name, "command": f"gradiva experiment {name}", "rows": found}
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    maps, lags = results.runs_text("push_recovery"), results.runs_text("swing_lag")
    assert re.findall(r"\| ([\d.]+ to [\d.]+) \|", maps) == ["5 to 20", "22.5 to 75.5"]
    assert re.findall(r"0\.\d{3}", lags.split("commit")[0]) == ["0.456"]


def test_no_figure_of_a_results_page_is_typed_by_hand():
    unit = r"\d ?(%|mm|cm|ms|µs|m/s|N·s|N·m|kN|mrad|rad|J\b|s\b|°(?! is))|\d of \d"
    for page in SITE.glob("results/*.md"):
        prose = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
        assert re.findall(f".*(?:{unit}).*", prose) == [], page.name


def cells(page: Path) -> list[str]:
    """Return the cells of a notebook, without their options."""
    found = re.findall(r"```\{code-cell\}\n(.*?)\n```", page.read_text(encoding="utf-8"), re.DOTALL)
    return ["\n".join(line for line in cell.splitlines() if not line.startswith((":", "%"))) for cell in found]


NOTEBOOKS = [page for page in sorted(SITE.rglob("*.md")) if "file_format: mystnb" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_a_notebook_uses_names_that_exist_and_shows_a_picture(page):
    code = "\n".join(cells(page))
    compile(code, page.name, "exec")
    named = {
        name for name in re.findall(r"\bgradiva\.([A-Za-z_]+)", code) if not (PACKAGES / "gradiva" / name).is_dir()
    }
    assert {name for name in named if not hasattr(gradiva, name)} == set()
    assert re.search(r"\.plot\(|panels\(", code) or page.stem == "over_yarp"


def test_the_tutorial_of_inverse_kinematics_runs():
    space: dict[str, object] = {}
    for cell in cells(SITE / "tutorials" / "inverse_kinematics.md"):
        exec(compile(cell, "inverse_kinematics.md", "exec"), space)
    assert space["figure"].axes


def test_the_names_for_people_from_elsewhere_exist():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "modules").rglob("*.py"))
    rows = [line.split("|") for line in (SITE / "coming_from.md").read_text(encoding="utf-8").splitlines()]
    named = {name for row in rows if len(row) > 3 for name in re.findall(r"`([A-Z]\w+)`", row[2])}
    assert len(named) > 25
    assert {name for name in named if not re.search(rf"\b{name}\b", code)} == {"LOCAL_WORLD_ALIGNED"}  # Pinocchio's


def words(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").split())


def markdown() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_documents_outside_of_the_site_keep_their_budgets():
    outside = [path for path in markdown() if SITE not in path.parents]
    readme = ROOT / "README.md"
    assert words(readme) <= 1200
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 150
    assert words(ROOT / "CONTRIBUTING.md") <= 900
    assert sum(map(words, outside)) <= 9000
    for path in rooms():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 80, path


def test_the_readme_leads_to_the_page_of_each_shipped_robot():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for robot in shipped_robot_names():
        assert f"(docs/robots/{robot}.md)" in readme
        assert (SITE / "robots" / f"{robot}.md").is_file()


def rooms() -> list[Path]:
    found = sorted((ROOT / "modules").rglob("README.md"))
    assert len(found) > 20
    return found


def test_a_figure_in_readme_or_rooms_is_one_of_a_generated_page(pages):
    results = (path.read_text(encoding="utf-8") for path in ROOT.glob("results/*.json"))
    generated = "\n".join([*pages.values(), *results])
    unit = r"\d+(?:\.\d+)? ?(?:%|mm|cm|ms|µs|m/s|N·s|N·m|mrad|rad|J|s|Hz|kHz|GB|MB|°)\b|\d+ of \d+"
    figures = set(re.findall(unit, generated))
    for path in (ROOT / "README.md", *rooms()):
        prose = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert set(re.findall(unit, prose)) - figures == set(), path
