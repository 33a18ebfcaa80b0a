"""What is called to start a module on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gradiva.common import ConfigError
from gradiva.yarp_modules.application.application import ApplicationModule
from gradiva.yarp_modules.application.marked_processes import MARK

_DEVICE = "yarpdev"


def command_of(module: ApplicationModule) -> list[str]:
    """Return the program of a module and its arguments, as yarpmanager would call them.

    Raises:
        ConfigError: The program is not found.
    """
    if module.deployer == _DEVICE:
        return [_found(_DEVICE, module), "--device", module.program, *module.arguments]
    program = _found(module.program, module)
    interpreter = [_found(module.deployer, module)] if module.deployer else []
    return [*interpreter, program, *module.arguments]


def environment_of(module: ApplicationModule, mark: str) -> Mapping[str, str]:
    """Return the variables that a module sees; ``mark`` tells which run it belongs to."""
    own = {"YARP_PORT_PREFIX": module.prefix} if module.prefix else {}
    return {**os.environ, "PYTHONUNBUFFERED": "1", **module.environment, **own, MARK: mark}


def work_folder_of(module: ApplicationModule) -> Path:
    """Return where a module runs.

    Raises:
        ConfigError: There is no such folder.
    """
    folder = Path(module.work_folder or ".").expanduser()
    if not folder.is_dir():
        raise ConfigError(f"{module.place}: <workdir>: there is no folder {folder}")
    return folder


def _found(program: str, module: ApplicationModule) -> str:
    own = Path(sys.executable).parent  # first: another version of Gradiva may be on PATH
    folders = [module.work_folder, str(own), os.environ.get("PATH", os.defpath)]
    found = shutil.which(program, path=os.pathsep.join(filter(None, folders)))
    if found is None and module.deployer and Path(program).is_file():
        found = program  # a script needs not be executable
    if found is None:
        raise ConfigError(f"{module.place}: <name>: no program '{program}', neither in {own} nor on PATH")
    return str(Path(found).absolute())
