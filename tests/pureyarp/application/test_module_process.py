"""A module as a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.waiting import TIMEOUT

SCRIPT = """
    import sys
    from gradiva.middleware import yarp

    class Module(yarp.RFModule):
        def configure(self, rf):
            print(rf.find("name").asString(), flush=True)
            return True

        def getPeriod(self):
            return 3600.0

        def updateModule(self):
            return True

        def close(self):
            print("closed", flush=True)
            return True

    finder = yarp.ResourceFinder()
    finder.configure(sys.argv)
    sys.exit(Module().runModule(finder))
"""


def start_script() -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", textwrap.dedent(SCRIPT), "--name", "/me"]
    environment = {**os.environ, "GRADIVA_YARP": "pureyarp"}
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "/me\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_a_module_of_its_own_process(number):
    with start_script() as process:
        process.send_signal(number)
        assert process.communicate(timeout=TIMEOUT)[0] == "closed\n"
        assert process.returncode == 0
