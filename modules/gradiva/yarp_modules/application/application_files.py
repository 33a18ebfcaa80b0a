"""Where applications are found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gradiva.common import ConfigError, nearest_name
from gradiva.middleware import yarp
from gradiva.yarp_modules.application.application import Application
from gradiva.yarp_modules.application.application_reader import read_application
from gradiva.yarp_modules.application.xml_element import read_xml


def find_application(name: str) -> Path:
    """Return the file that ``name`` means: a path, the name of a file without ``.xml``, or an application's own name.

    Raises:
        ConfigError: There is none.
    """
    if name.endswith(".xml") or os.sep in name:
        return _existing(Path(name))
    files = application_files()
    if name in files:
        return files[name]
    for path in files.values():
        if _own_name(path) == name:
            return path
    raise ConfigError(f"no application '{name}'{nearest_name(name, files)}")


def application_files() -> dict[str, Path]:
    """Return the applications that are installed, by the name of the file without ``.xml``.

    They come with Gradiva or lie in a folder ``applications`` where YARP's ResourceFinder looks; the former win.
    """
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob("*.xml")):
            found.setdefault(path.stem, path)
    return found


def load_application(name: str) -> Application:
    """Return the application that ``name`` means, with those that it embeds.

    Raises:
        ConfigError: There is none, or it is wrong.
    """
    return read_application(find_application(name), find_application)


def _folders() -> Iterator[Path]:
    from gradiva.setup.robots import data_folder  # not before it is needed: it comes with all layers

    yield data_folder("apps")
    finder = yarp.ResourceFinder()
    finder.setQuiet(True)
    finder.configure(["gradiva"])
    places = finder.findPaths("applications")
    yield from (Path(places.get(index).asString()) for index in range(places.size()))


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file (gradiva app list shows what is installed)")
    return path


def _own_name(path: Path) -> str:
    try:
        root = read_xml(path)
    except ConfigError:  # somebody else's file, and nobody has asked for it
        return ""
    name = root.first("name")
    return "" if name is None or root.tag != "application" else "_".join(name.text.split())
