"""The package needs numpy and the standard library, nothing of the project around it."""

import subprocess
import sys
from pathlib import Path

import numpy as np

PUREYARP = Path(__file__).parents[2] / "modules" / "pureyarp"

SCRIPT = """
import sys
import sysconfig
from pathlib import Path

class Nothing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {"pureyarp", "numpy"} and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
sys.path[:0] = sys.argv[1:]
import pureyarp as yarp

port = yarp.BufferedPortBottle()
bottle = port.prepare()
bottle.addFloat64(1.5)
print(bottle.toString(), sorted({name.partition(".")[0] for name in sys.modules} & {"gradiva", "scipy", "yarp"}))
"""


def test_it_is_imported_where_only_numpy_and_the_standard_library_are_found(tmp_path):
    (tmp_path / "pureyarp").symlink_to(PUREYARP)
    arguments = [sys.executable, "-I", "-S", "-c", SCRIPT, str(tmp_path), str(Path(np.__file__).parents[1])]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1.5 []\n", "")


def test_no_source_of_it_names_gradiva():
    naming = [str(path) for path in PUREYARP.rglob("*.py") if "gradiva" in path.read_text(encoding="utf-8")]
    assert naming == []
