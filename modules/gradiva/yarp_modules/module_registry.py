"""Which modules there are; their code is imported only when one is started."""

from __future__ import annotations

import importlib
from typing import cast

from gradiva.common import ConfigError, nearest_name
from gradiva.yarp_modules.gradiva_module import GradivaModule

MODULES: dict[str, str] = {  # title: file:class
    "walking": "walking_module:WalkingModule",
    "planner": "layer_modules:PlannerModule",
    "model_control": "layer_modules:ModelControlModule",
    "whole_body": "layer_modules:WholeBodyModule",
    "logger": "logger.logger_module:LoggerModule",
    "joypad": "joypad.joypad_module:JoypadModule",
    "simulator": "simulator.simulator_module:Simulator",
}


def module_class(title: str) -> type[GradivaModule]:
    """Return the class of the module called ``title``.

    Raises:
        ConfigError: There is none.
    """
    if title not in MODULES:
        raise ConfigError(f"there is no module '{title}'{nearest_name(title, MODULES)}")
    file, _, name = MODULES[title].partition(":")
    kind = getattr(importlib.import_module(f"gradiva.yarp_modules.{file}"), name)
    return cast("type[GradivaModule]", kind)
