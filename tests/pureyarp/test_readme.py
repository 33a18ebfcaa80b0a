"""The programs of the README do what it says."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pureyarp.network.name_server import NameServer

README = Path(__file__).parents[2] / "modules" / "pureyarp" / "README.md"


def program(heading: str) -> str:
    """Return the code below a heading of the README."""
    text = README.read_text(encoding="utf-8")
    (section,) = (part for part in re.split(r"^## ", text, flags=re.MULTILINE) if part.startswith(f"{heading}\n"))
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return code


@pytest.fixture
def environment(own_name_server: NameServer, isolated_config_home: Path) -> dict[str, str]:
    """Return the environment of programs that find the name server of this test."""
    own_name_server.write_file(isolated_config_home / "yarp.conf")
    return {**os.environ, "YARP_CONFIG_HOME": str(isolated_config_home)}


@contextmanager
def running(code: str, environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    """Run a program until the end of the block."""
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def output_of(code: str, environment: dict[str, str]) -> str:
    """Run a program to its end and return what it prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60.0, check=True).stdout


def test_the_client_reads_what_the_server_sends(environment):
    with running(program("A server"), environment):
        lines = output_of(program("A client"), environment).splitlines()
    counts = [int(line.split()[0]) for line in lines]
    assert [line.split()[1:] for line in lines] == [["battery", "26.4"]] * 3
    assert counts == sorted(set(counts))


def test_the_rpc_client_gets_the_sum(environment):
    assert output_of(program("RPC"), environment) == "True 7.5\n"


def test_the_control_board_follows_its_client(environment):
    assert output_of(program("A control board"), environment) == "elbow 12.5\n"


@pytest.mark.parametrize("heading", ["A server", "A client", "RPC", "A control board"])
def test_a_program_of_the_readme_is_short(heading):
    assert len([line for line in program(heading).splitlines() if line]) <= 22
