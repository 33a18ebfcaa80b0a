"""RPC commands, figures of a result, errors, plug-in points, experiments, and the Python interface."""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator

import gradiva
import gradiva_experiments
import pureyarp
from gradiva.common import Registry, WalkingError
from gradiva.safety import Response, SafetyKind
from gradiva.setup import data_folder, read_toml
from gradiva.simulated_walk import commanded_end, walk_result, walk_score
from gradiva.telemetry import KEY_FIGURES
from gradiva.yarp_modules.gradiva_module import MODULES, module_class
from gradiva_experiments.experiment import all_experiments
from pureyarp.errors import YarpError
from reference_pages.markdown import attributes, code, prose, summary, table

_RESULT_PARTS = (
    walk_result._result,
    walk_result._what_was_asked,
    walk_result._slope,
    walk_result._how_it_went,
    walk_result._how_it_ran,
    walk_result._for_the_report,
    commanded_end.count_steps,
    walk_score.landing_score,
)
_ALL_MODULES = (
    "help   list the commands",
    "getHealth   how well this module keeps time",
    "quit   end this module",
)


def rpc_page() -> str:
    """Return the page of the modules: their RPC commands, as ``help`` answers them."""
    parts = [
        "# RPC commands\n",
        "Generated from the modules: what `gradiva rpc PORT help` answers. `gradiva rpc PORT COMMAND…` sends one; a",
        "reply is `[ok]`",
        'and values, or `[fail] "reason"`. Ports and streams: [modules](../../how_it_works/yarp_modules.md).\n',
    ]
    for name, lines in rpc_commands().items():
        rows = [_command_row(line) for line in lines]
        parts += [f"## {name}\n", summary(module_class(name)) + "\n", table(("command", "what it does"), rows)]
    return "\n".join(parts)


def rpc_commands() -> dict[str, tuple[str, ...]]:
    """Return the lines of help of each module."""
    return {name: (*module_class(name).COMMANDS, *_ALL_MODULES) for name in MODULES}


def _command_row(line: str) -> tuple[str, str]:
    command, _, text = line.partition("   ")
    return code(command.strip()), prose(text.strip())


def result_page() -> str:
    """Return the page of the figures in ``result.json``."""
    rows = [(code(figure.key), figure.label, figure.unit) for figure in KEY_FIGURES]
    lines = [
        "# Figures of a result\n",
        "Generated from the table that terminal and report use. In `result.json` all values are SI; the unit is",
        "that of the report.",
        "What they mean: [what a result says](../../how_it_works/results_and_falls.md).\n",
        table(("key in `result.json`", "label", "unit in the report"), rows),
    ]
    return "\n".join(lines)


def result_keys() -> list[str]:
    """Return the keys of ``result.json``, from the functions that write it."""
    keys = {"outcome", "reason", "diagnosis", "is_standing", *walk_score._STEPPING}
    for function in (*_RESULT_PARTS, walk_score.score):
        (tree,) = ast.parse(inspect.getsource(function)).body
        returned = [node.value for node in tree.body if isinstance(node, ast.Return)]
        keys |= {
            key.value for table in returned if isinstance(table, ast.Dict) for key in table.keys if key is not None
        }
    return sorted(keys)


def error_page() -> str:
    """Return the page of error classes, and of the kinds of safety events with their responses."""
    rows = []
    for kind in error_classes():
        bases = ", ".join(code(base.__name__) for base in kind.__bases__)
        more = "; ".join(f"{code(name)}: {text}" for name, text in attributes(kind).items() if name != "keys")
        rows.append((code(kind.__name__), code(kind.__module__), bases, " ".join(filter(None, (summary(kind), more)))))
    responses = read_toml(data_folder("config") / "safety.toml")["safety"]["responses"]
    lines = [
        "# Errors and safety events\n",
        "Generated from the classes. Cause and mend of each: [troubleshooting](../../troubleshooting.md).\n",
        "## Error classes\n",
        table(("error", "module", "derives from", "meaning"), rows),
        "## Kinds of safety events\n",
        "The responses are those of `[safety.responses]`: " + ", ".join(code(each.value) for each in Response) + ".",
        "Lasting failures and the emergency stop always freeze.\n",
        table(("kind", "response"), ((code(kind.value), responses.get(kind.value, "freeze")) for kind in SafetyKind)),
    ]
    return "\n".join(lines)


def error_classes() -> list[type[Exception]]:
    """Return the public error classes of the three distributions, from the roots to the leaves."""
    for package in (gradiva, gradiva_experiments, pureyarp):
        _import_all(package)
    return sorted({WalkingError, YarpError, *_below(WalkingError), *_below(YarpError)}, key=_rank)


def _rank(kind: type) -> tuple[bool, int, str]:
    return issubclass(kind, YarpError), len(kind.__mro__), kind.__name__


def _below(kind: type) -> Iterator[type]:
    for derived in kind.__subclasses__():
        if not derived.__name__.startswith("_") and derived.__module__.partition(".")[0] in (
            "gradiva",
            "gradiva_experiments",
            "pureyarp",
        ):
            yield derived
            yield from _below(derived)


def _import_all(package: object) -> None:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith(("__main__", "measured_peer")):
            importlib.import_module(found.name)


def plugin_page() -> str:
    """Return the page of the plug-in points: each registry with its classes, and the entry points of packages."""
    rows = []
    for registry in registries():
        bases = ", ".join(code(base.__name__) for base in registry.bases)
        asked = [name for name in vars(registry.interface or object) if not name.startswith("_")]
        methods = f"any class with {', '.join(map(code, asked))}" if asked else ""
        rows.append(
            (
                registry.noun,
                code(registry.group),
                bases or methods or "any class of its kind",
                ", ".join(map(code, registry.shipped)) or "–",
            )
        )
    experiments = [
        (code(name), each.source, prose(each.description), " ".join(map(code, each.options)))
        for name, each in all_experiments().items()
    ]
    lines = [
        "# Plug-in points\n",
        "Generated from the registries. A package names a class by an entry point of the group; without an",
        "installation the",
        "configuration names it as `package.module:Class`. `gradiva plugins` lists what is installed and why one",
        "does not load.",
        "How to write one: [extend](../../how_to/extend.md).\n",
        table(("kind", "entry points of the group", "derives from", "shipped"), rows),
        "Further groups: `gradiva.robots` (a folder with a `robot.toml`), `gradiva.experiments` (an `Experiment`),",
        "`gradiva.commands`",
        "(a command of `gradiva`).\n",
        "## Experiments\n",
        "`gradiva experiment NAME`; `--quick` makes each shorter.\n",
        table(("experiment", "stands against", "what it does", "options"), experiments),
    ]
    return "\n".join(lines)


def registries() -> list[Registry]:
    """Return every registry of the package, by group."""
    _import_all(gradiva)
    modules = [module for name, module in sys.modules.items() if name.startswith("gradiva.")]
    found = {value.group: value for module in modules for value in vars(module).values() if isinstance(value, Registry)}
    return [found[group] for group in sorted(found)]


_CHAPTERS = {  # of the Python interface, by the room that a noun comes from
    "gradiva.setup": "Robots",
    "gradiva.setup.robot": "Robots",
    "gradiva.planner": "Planning",
    "gradiva.simplified_model": "DCM laws",
    "gradiva.whole_body": "Tasks and whole-body control",
    "gradiva.estimation": "Estimation",
    "gradiva.walking": "Simulated walks",
    "gradiva.simulated_walk": "Simulated walks",
    "gradiva.simulation": "Simulated walks",
    "gradiva.telemetry": "Logs and views",
    "gradiva.common": "Types and errors",
}


GIVEN = {  # to the methods of one's own classes, by the chapter of these
    "Tasks and whole-body control": (
        ("gradiva.robot_model", "SymbolicDynamics"),
        ("gradiva.robot_model", "SymbolicFrame"),
        ("gradiva.whole_body", "WholeBodyReference"),
    ),
    "DCM laws": (("gradiva.common", "DcmReference"), ("gradiva.contacts", "SupportPolygon")),
}
_GIVEN_BY = {
    "Tasks and whole-body control": "`velocity` and `acceleration` of a task get a `Body` (above): its `dynamics` is a "
    "`SymbolicDynamics`, its `feet` and `dynamics.frame(NAME)` are a `SymbolicFrame`, its `reference` has a symbol for "
    "each field of `WholeBodyReference`. The task's `reference` gets the latter, with the values of the tick.\n",
    "DCM laws": "`zmp` of a law gets a `BalancePlan` (above): `plan.reference.dcm` is a `DcmReference`, "
    "`plan.polygon` a `SupportPolygon`.\n",
}


def python_pages() -> dict[str, str]:
    """Return a page for each chapter of the public face, and their overview."""
    chapters: dict[str, list[str]] = {}
    for name, room in gradiva._ROOMS.items():
        chapters.setdefault(_CHAPTERS[room], []).append(name)
    pages = {f"python_{_slug(title)}": _python_page(title, names) for title, names in chapters.items()}
    toctree = ["```{toctree}", ":maxdepth: 1\n", *pages, "```\n"]
    lines = [
        "# Python interface\n",
        "`import gradiva` has these nouns; each is imported when it is first used. They are what this version",
        "documents: what else a",
        "room's `__init__.py` hands on may change with any version.\n",
        *toctree,
    ]
    return {**pages, "python": "\n".join(lines)}


def _slug(title: str) -> str:
    return title.lower().replace(" ", "_").replace("-", "_")


def _python_page(title: str, names: list[str]) -> str:
    parts = [f"# {title}\n"]
    for name in names:
        noun = getattr(gradiva, name)
        parts += [
            f"## {name}\n",
            "```{eval-rst}",
            f".. currentmodule:: {gradiva._ROOMS[name]}",
            *_directive(name, noun),
            "```\n",
        ]
    parts += ["## What methods of your own class are given\n", _GIVEN_BY[title]] if title in GIVEN else []
    for room, name in GIVEN.get(title, ()):
        noun = getattr(importlib.import_module(room), name)
        parts += [f"### {name}\n", "```{eval-rst}", f".. currentmodule:: {room}", *_directive(name, noun), "```\n"]
    return "\n".join(parts)


def _directive(name: str, noun: object) -> list[str]:
    if inspect.ismodule(noun):
        return [f".. automodule:: {noun.__name__}", "   :members:"]
    if inspect.isclass(noun):
        return [f".. autoclass:: {noun.__module__}.{noun.__qualname__}", "   :members:"]
    return [f".. autofunction:: {noun.__module__}.{noun.__qualname__}"]
