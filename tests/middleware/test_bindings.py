"""Which YARP is behind the facade, seen from processes with different packages called yarp."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import pureyarp
from gradiva.common import ConfigError
from gradiva.middleware.bindings import chosen_bindings, lasting_ports

BINDINGS = "class Network: pass\nclass Bottle: kind = 'real'\nVOCAB_CM_IDLE = 7\ndef now(): return 0.0\n"
UNRELATED = "def make(): pass\n"
BROKEN = "raise ImportError('libYARP_os.so.3: cannot open shared object file')\n"


def ask(question: str, package: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Print an expression about the facade in a process that finds ``package`` before all others."""
    variables = {name: value for name, value in os.environ.items() if name != "GRADIVA_YARP"}
    variables |= environment
    if package is not None:
        variables["PYTHONPATH"] = str(package)
    script = f"from gradiva.middleware import yarp\nprint({question})"
    return subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=False)


@pytest.fixture
def package(tmp_path):
    def make(source: str) -> Path:
        (tmp_path / "yarp").mkdir()
        (tmp_path / "yarp" / "__init__.py").write_text(source)
        return tmp_path

    return make


def test_without_bindings_pureyarp_is_used():
    assert ask("yarp.Bottle.__module__").stdout == "pureyarp.data.values\n"


def test_real_bindings_are_used_where_they_are_installed(package):
    answer = ask("yarp.Bottle.kind, yarp.VOCAB_CM_IDLE, yarp.now()", package(BINDINGS))
    assert answer.stdout == "real 7 0.0\n"


def test_pureyarp_can_be_forced(package):
    answer = ask("hasattr(yarp.Bottle, 'kind')", package(BINDINGS), GRADIVA_YARP="pureyarp")
    assert answer.stdout == "False\n"


def test_an_unrelated_package_of_the_name_is_logged_and_left_alone(package):
    answer = ask("yarp.Bottle.__module__", package(UNRELATED))
    assert answer.stdout == "pureyarp.data.values\n"
    assert "is not YARP's, it has no Network" in answer.stderr


def test_bindings_that_cannot_be_loaded_are_logged(package):
    answer = ask("yarp.Bottle.__module__", package(BROKEN))
    assert answer.stdout == "pureyarp.data.values\n"
    assert "libYARP_os.so.3" in answer.stderr


def test_asking_for_real_bindings_that_are_not_there_says_why(package):
    answer = ask("1", package(BROKEN), GRADIVA_YARP="real")
    assert answer.returncode != 0
    assert answer.stderr.splitlines()[-1] == (
        "gradiva.common.errors.ConfigError: GRADIVA_YARP=real, but the bindings cannot be used: "
        "libYARP_os.so.3: cannot open shared object file"
    )


def test_another_wish_is_refused_with_the_valid_ones():
    with pytest.raises(ConfigError, match=r"GRADIVA_YARP=fake: valid are real and pureyarp"):
        chosen_bindings({"GRADIVA_YARP": "fake"})
    with pytest.raises(ConfigError, match="GRADIVA_YARP=embedded: it is called pureyarp now"):
        chosen_bindings({"GRADIVA_YARP": "embedded"})


def test_a_port_whose_number_is_anothers_is_opened_at_a_free_one(own_name_server, names):
    """YARP's own name server, started again, hands out numbers on which ports still listen: opening there fails."""
    given = []

    class Port(pureyarp.Port):
        def open(self, name):
            given.append(name)
            return not isinstance(name, str) and super().open(name)

    bindings = SimpleNamespace(Port=Port, Contact=pureyarp.Contact)
    port = lasting_ports(bindings)["Port"]()
    assert port.open("/third")
    assert given[0] == "/third"
    assert names.query("/third").getPort() == port.where().getPort() == given[1].getPort()
    port.close()
