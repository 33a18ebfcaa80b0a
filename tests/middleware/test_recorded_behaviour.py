"""pureyarp answers the recorded programs as the real bindings do, or as it is written and why.

All programs, those that take long too: ``python -m tests.middleware.test_recorded_behaviour``.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gradiva
import pureyarp
from gradiva.middleware import yarp
from pureyarp.network.name_server import NameServer
from pureyarp.network.settings import NetworkSettings, use_settings
from tests.middleware.behaviour.devices import server
from tests.middleware.behaviour.programs import Program, differences, programs

BOARD, SENSORS = "/fakebot/board", "/fakebot/sensors"
WORKERS = 4  # processes side by side: programs wait most of their time
BATCH = 25  # programs in one process
MOST_DIFFERENCES = 30  # where the real bindings have an answer
_NETWORKED = ("net", "port", "rpc", "stamp")
_ALONE = ("module", "clock")  # change what a process has once: signal handlers, the clock
_ALONE_TOO = ("net.fini", "net.no_init", "net.object", "net.wait", "net.sync_none", "net.init_twice")


def batches_of(chosen: Iterable[Program]) -> list[list[str]]:
    """Return which programs share a process: all of the devices, which must not disturb each other, are in one."""
    alone, networked, devices, others = [], [], [], []
    for program in chosen:
        if program.group in _ALONE or program.name.startswith(_ALONE_TOO):
            alone.append([program.name])
        else:
            kinds = {"device": devices, **dict.fromkeys(_NETWORKED, networked)}
            kinds.get(program.group, others).append(program.name)
    return [devices, *alone, *(networked[start : start + BATCH] for start in range(0, len(networked), BATCH)), others]


def answers_of(chosen: Iterable[Program], environment: dict[str, str]) -> dict[str, Any]:
    """Run programs in several processes and return their answers by name."""
    batches = batches_of(chosen)
    command = [sys.executable, "-m", "tests.middleware.behaviour.runner"]
    workers = [
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(WORKERS)
    ]
    for number, worker in enumerate(workers):
        assert worker.stdin is not None
        print(json.dumps(batches[number::WORKERS]), file=worker.stdin, flush=True)
    lines = [line for worker in workers for line in worker.communicate()[0].splitlines()]
    return {name: answer for name, answer, _ in map(json.loads, lines)}


@contextmanager
def stage(folder: Path) -> Iterator[dict[str, str]]:
    """Serve names, a control board and sensors; yield the environment in which programs find them."""
    names = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
    names.start()
    names.write_file(folder / "yarp.conf")
    use_settings(replace(names.settings, may_serve_names=False))
    yarp.Network.init()
    try:
        with server("board", BOARD), server("sensors", SENSORS):
            roots = (*(Path(str(each.__file__)).parents[1] for each in (pureyarp, gradiva)), Path(__file__).parents[2])
            yield {
                **{key: value for key, value in os.environ.items() if not key.startswith(("YARP_", "GRADIVA_YARP"))},
                "YARP_CONFIG_HOME": str(folder),
                "YARP_DATA_HOME": str(folder / "data"),
                "GRADIVA_YARP": "pureyarp",
                "PYTHONPATH": os.pathsep.join(map(str, roots)),
                "BEHAVIOUR_BOARD": BOARD,
                "BEHAVIOUR_SENSORS": SENSORS,
            }
    finally:
        yarp.Network.fini()
        names.stop()
        use_settings(None)


def unexpected(chosen: list[Program], environment: dict[str, str]) -> list[str]:
    """Return a line for each program that is answered otherwise than it should be."""
    answers = answers_of(chosen, environment)
    return [
        f"{program.name}: {json.dumps(answers.get(program.name))}, not {json.dumps(differences().expected(program))}"
        for program in chosen
        if answers.get(program.name, "no answer") != differences().expected(program)
    ]


@pytest.fixture
def environment(isolated_config_home) -> Iterator[dict[str, str]]:
    isolated_config_home.mkdir(exist_ok=True)
    with stage(isolated_config_home) as environment:
        yield environment


def test_programs_are_answered_as_by_the_real_bindings_or_as_it_is_written(environment):
    chosen = [one for one in programs().values() if one.name not in {*differences().long, *differences().unstable}]
    assert len(chosen) > 1000
    assert unexpected(chosen, environment) == []


def test_what_differs_is_known_with_its_reason():
    known = differences()
    assert len(known.different) <= MOST_DIFFERENCES
    assert all(reason for _, reason in (*known.kinder.values(), *known.different.values()))
    for name, (answer, _) in {**known.kinder, **known.different}.items():
        assert answer != programs()[name].answer, f"{name} does not differ any more"
    without_answer = {program.name for program in programs().values() if not program.has_an_answer}
    assert without_answer - {*known.kinder, *known.long} == set()
    assert set(known.different) & without_answer == set()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home, stage(Path(home)) as surroundings:
        everything = [program for program in programs().values() if program.name not in differences().unstable]
        complaints = unexpected(everything, surroundings)
    print(*complaints, f"{len(everything)} programs, {len(complaints)} unexpected answers", sep="\n")
    sys.exit(bool(complaints))
