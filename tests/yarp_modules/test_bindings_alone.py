"""The modules know YARP by its one door: they run on the real bindings as well as on pureyarp."""

from __future__ import annotations

from pathlib import Path

import gradiva.yarp_modules

MODULES = Path(gradiva.yarp_modules.__file__).parent


def test_modules_import_yarp_only_through_the_middleware():
    lines = {
        str(path.relative_to(MODULES)): line.strip()
        for path in MODULES.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "pureyarp" in line
    }
    assert lines == {}
