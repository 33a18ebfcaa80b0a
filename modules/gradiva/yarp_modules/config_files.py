"""Files of the command line, found as YARP finds them."""

from __future__ import annotations

from pathlib import Path

from gradiva.common import ConfigError
from gradiva.middleware import yarp
from gradiva.setup import Setup, load_setup
from gradiva.yarp_modules.module_options import ModuleOptions


def setup_of(options: ModuleOptions) -> Setup:
    """Return the configuration that a module was started with.

    Raises:
        WalkingError: As `load_setup`, or a file is not found.
    """
    files = [found_file(path, options.context) for path in options.files]
    return load_setup(options.robot, options.overrides, files, first_run=options.first_run)


def found_file(path: Path, context: str) -> Path:
    """Return ``path`` where it is a file, else what ResourceFinder finds by that name in ``context``.

    Raises:
        ConfigError: There is none.
    """
    if path.is_file():
        return path
    finder = yarp.ResourceFinder()
    finder.setQuiet(True)
    finder.setDefaultContext(context)
    finder.configure(["gradiva"])
    found = str(finder.findFileByName(str(path)))
    if not found:
        raise ConfigError(f"--from {path}: no such file, neither here nor in the context {context}")
    return Path(found)
