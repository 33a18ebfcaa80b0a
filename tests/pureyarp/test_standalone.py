"""The package works without Gradiva: it needs numpy and Python's own library."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).parents[2] / "modules" / "pureyarp"
PROGRAM = """
import sys
before = set(sys.modules)
import pureyarp as yarp
assert yarp.Bottle("1 (2.5 x)").get(1).asList().get(0).asFloat64() == 2.5
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - set(sys.stdlib_module_names)))
"""


def test_nothing_but_numpy_is_loaded_with_the_package_alone(tmp_path):
    (tmp_path / "pureyarp").symlink_to(PACKAGE)
    (tmp_path / "numpy").symlink_to(Path(np.__file__).parent)
    for libraries in Path(np.__file__).parents[1].glob("numpy.libs"):
        (tmp_path / "numpy.libs").symlink_to(libraries)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-S", "-c", PROGRAM]  # no site-packages
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60.0, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == ["numpy", "pureyarp"]
