"""The page of what is stable: the interface of this version, each list from the code."""

import re
from collections.abc import Iterator
from pathlib import Path

import gradiva
import gradiva.yarp_modules
from gradiva.safety import SafetyKind
from gradiva_experiments.experiment import GROUP
from reference_pages.commands import all_commands
from reference_pages.configuration import all_keys
from reference_pages.interfaces import GIVEN, error_classes, registries, result_keys, rpc_commands
from reference_pages.markdown import code, table
from reference_pages.signals import all_signals

_FOLDER_GROUPS = ("gradiva.commands", GROUP, "gradiva.robots")  # entry points of which no registry makes instances
_TEXT = Path(__file__).with_name("interface.md")


def interface_page() -> str:
    """Return the page."""
    rows = [(part, str(len(names)), place) for part, names, place in parts()]
    lists = [f"### {part}\n\n{', '.join(map(code, names))}\n" for part, names, _ in parts()]
    text = _TEXT.read_text(encoding="utf-8").replace("VERSION", gradiva.__version__)
    return text.replace("PARTS\n", "\n".join([table(("part", "names", "meaning of each"), rows), *lists]))


def parts() -> Iterator[tuple[str, list[str], str]]:
    """Yield each part of the interface: its title, its names, and where they are explained."""
    yield (
        "Commands of the terminal",
        sorted(all_commands()),
        "[commands](commands.md), with options and exit status",
    )
    yield (
        "Python names",
        sorted(set(gradiva.__all__)),
        "[Python interface](python.md), with attributes of classes",
    )
    yield (
        "Types that methods of one's own classes are given",
        sorted(f"{room}.{name}" for given in GIVEN.values() for room, name in given),
        "[Python interface](python.md), with the classes that are given them",
    )
    yield "Tables of the configuration", sorted({key.partition(".")[0] for key in all_keys()}), _keys()
    yield "RPC commands", _rpc(), "[RPC commands](rpc.md), by module"
    yield "Ports", ports(), "[YARP modules](../../how_it_works/yarp_modules.md)"
    yield "Log signals", sorted(all_signals()), "[log signals](signals.md)"
    yield "Keys of `result.json`", result_keys(), "[figures of a result](results.md)"
    yield "Error classes", [kind.__name__ for kind in error_classes()], "[errors](errors.md)"
    yield "Kinds of safety events", [kind.value for kind in SafetyKind], "[errors](errors.md)"
    groups = sorted([*(registry.group for registry in registries()), *_FOLDER_GROUPS])
    yield "Plug-in points", groups, "[plug-in points](plugins.md), with the methods that each asks for"


def _keys() -> str:
    return f"[configuration](configuration.md): {len(all_keys())} keys, their units and ranges"


def _rpc() -> list[str]:
    return sorted({line.split()[0] for lines in rpc_commands().values() for line in lines})


def ports() -> list[str]:
    """Return the ports of the modules that use no other's name, without the name of the module before them."""
    folder = Path(gradiva.yarp_modules.__file__).parent
    files = [*folder.glob("*.py"), *folder.glob("joypad/*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    names = re.findall(r'"(?:\{[\w.]+\}/)?([\w-]+:(?:i|o|in))"|"\{[\w.]+\}/(rpc|logger)"', text)
    return sorted({f"…/{name or other}" for name, other in names})
