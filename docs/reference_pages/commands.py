"""The commands of the terminal, from the tree of typer itself."""

from typing import Any

import typer

from gradiva.cli.commands import app
from gradiva.yarp_modules import module_options
from gradiva.yarp_modules.gradiva_module import MODULES, module_class
from gradiva_experiments import command as experiments
from gradiva_experiments.campaign import command as campaigns
from gradiva_experiments.campaign import tune
from reference_pages.markdown import code, prose, table

INTRODUCTION = """# Commands

Generated from the command line; `gradiva COMMAND --help` prints the same. Exit status: 0 the robot did what was
commanded and
stands; 1 it fell, stopped or walked badly; 2 the input was wrong; 130 interrupted by Ctrl-C.
"""


def command_pages() -> dict[str, str]:
    """Return the page of all commands."""
    parts = [INTRODUCTION]
    for path, each in sorted(all_commands().items()):
        parts.append(_section(path, each))
    parts += [_module_section(name) for name in MODULES]
    return {"commands": "\n".join(parts)}


def module_actions(name: str) -> list[Any]:
    """Return the options of a module as its parser knows them."""
    kind = module_class(name)
    parser = module_options._parser(name, kind.SUMMARY, kind.OPTIONS)
    return [action for action in parser._actions if action.dest != "help"]


def _module_section(name: str) -> str:
    rows = []
    for action in module_actions(name):
        value = "" if action.nargs == 0 else f" {action.metavar or '|'.join(action.choices or ())}"
        default = action.default if action.default not in (None, False, "") else ""
        rows.append((code(", ".join(action.option_strings) + value), prose(action.help or ""), code(default)))
    return "\n".join([f"## gradiva module {name}\n", table(("option", "meaning", "default"), rows)])


def all_commands() -> dict[str, Any]:
    """Return each command that can be called, by the words with which it is called."""
    found: dict[str, Any] = {}
    _collect("gradiva", typer.main.get_command(app), found)
    _collect("gradiva experiment", typer.main.get_command(experiments.app), found)
    _collect("gradiva campaign", typer.main.get_command(campaigns.app), found)
    _collect("gradiva tune", typer.main.get_command(tune.app), found)
    return found


def _collect(path: str, each: Any, found: dict[str, Any]) -> None:
    inner = getattr(each, "commands", None)
    if not inner or getattr(each, "invoke_without_command", False):
        found[path] = each
    for name, command in (inner or {}).items():
        _collect(f"{path} {name}", command, found)


def _section(path: str, each: Any) -> str:
    arguments = [parameter for parameter in each.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in each.params if parameter.param_type_name == "option" and not parameter.hidden]
    usage = " ".join([path, *(_metavar(argument) for argument in arguments), *(["[OPTIONS]"] if options else [])])
    text = "\n\n".join(prose(part) for part in (each.help or "").replace("\b", "").split("\n\n"))
    lines = [f"## {path}\n", text + "\n", f"```\n{usage}\n```\n"]
    rows = [(_metavar(argument), prose(getattr(argument, "help", "") or ""), "") for argument in arguments]
    rows += [(_names(option), prose(option.help or ""), _default(option)) for option in options]
    rows = [(code(name), text, default) for name, text, default in rows]
    return "\n".join([*lines, table(("option", "meaning", "default"), rows) if rows else ""])


def _metavar(argument: Any) -> str:
    return argument.metavar or str(argument.name).upper()


def _names(option: Any) -> str:
    names = ", ".join(sorted((*option.opts, *option.secondary_opts), key=len))
    if option.is_flag:
        return names
    return f"{names} {option.metavar or _type_name(option)}"


def _type_name(option: Any) -> str:
    annotation = option.type_descriptor.annotation
    return {float: "NUMBER", int: "INTEGER"}.get(annotation, "TEXT")


def _default(option: Any) -> str:
    default = option.default
    if option.is_flag or default is None or callable(default) or default in ((), [], ""):
        return ""
    return code(getattr(default, "value", default))
