"""The joypad over ports, before a coordinator that records its commands."""

import threading

import pytest

from gradiva.common import ConfigError
from gradiva.middleware import CommandReader, RequestReader, as_bottle, as_items, yarp
from gradiva.yarp_modules.joypad import JoypadModule
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.rpc_commands import fail, is_ok, ok
from tests.middleware.conftest import isolated_config_home, own_name_server  # noqa: F401 (fixtures)
from tests.waiting import TIMEOUT, wait_until


class Coordinator:
    """Answers every command; hangs on ``stopWalking`` until it is released."""

    def __init__(self):
        self.commands, self.goals, self.released = [], [], threading.Event()
        self._answerer, self._taker = RequestReader(self._answer), CommandReader(self.goals.append)
        self.rpc, self.goal = yarp.Port(), yarp.Port()
        self.rpc.setReader(self._answerer)
        self.goal.setReader(self._taker)
        assert self.rpc.open("/coordinator/rpc")
        assert self.goal.open("/coordinator/goal:i")

    def _answer(self, items):
        if items == ["getReason"]:
            return ok("standing")
        self.commands.append(items[0])
        if items[0] == "stopWalking":
            self.released.wait(TIMEOUT)
        return fail("prepare the robot first") if items[0] == "startWalking" else ok()

    def close(self):
        self.released.set()
        self.rpc.close()
        self.goal.close()


@pytest.fixture
def coordinator(own_name_server):  # noqa: F811
    coordinator = Coordinator()
    yield coordinator
    coordinator.close()


@pytest.fixture
def run(coordinator):
    started = []

    def start(**extras):
        module = JoypadModule(ModuleOptions(extras={"remote": "/coordinator", **extras}))
        thread = threading.Thread(target=lambda: module.runModule(yarp.ResourceFinder()), daemon=True)
        thread.start()
        started.append((module, thread))
        wait_until(lambda: yarp.Network.exists("/joypad/rpc") or not thread.is_alive(), "ready")
        return module, thread

    yield start
    for module, thread in started:
        module.stopModule()
        thread.join(TIMEOUT)
        assert not thread.is_alive()


def press(module, key):
    reply = yarp.Bottle()
    module.respond(as_bottle(["press", key]), reply)
    return as_items(reply)


def test_recorded_keys_drive_the_walk_and_end_the_joypad(run, coordinator, tmp_path, capsys):
    keys = tmp_path / "keys"
    keys.write_text("0.2 p\n0.4 g\n0.6 up\n0.6 up\n0.6 left\n1.6 space\n1.8 q\n")
    _, thread = run(input=str(keys))
    thread.join(TIMEOUT)
    assert not thread.is_alive()
    assert coordinator.commands == ["prepareRobot", "startWalking", "pauseWalking"]
    assert [0.5, 0.25, 0.0] in coordinator.goals
    assert coordinator.goals[-1] == [0.0, 0.0, 0.0]
    printed = capsys.readouterr().out
    assert "prepareRobot: done\n" in printed
    assert "startWalking: fail prepare the robot first\n" in printed
    assert "standing\n" in printed


def test_the_emergency_stop_waits_for_no_other_command(run, coordinator):
    module, _ = run()
    wait_until(lambda: module._connections.are_connected(), "connected")
    assert is_ok(press(module, "x"))
    wait_until(lambda: "stopWalking" in coordinator.commands, "it hangs")
    assert is_ok(press(module, "e"))
    wait_until(lambda: "emergencyStop" in coordinator.commands, "it overtakes")


def test_a_coordinator_that_was_started_again_is_reached_again(run, coordinator):
    module, _ = run()
    wait_until(lambda: coordinator.goals, "goals come")
    coordinator.close()
    again = Coordinator()
    wait_until(lambda: again.goals, "goals come again")
    wait_until(lambda: module._commands.is_connected, "connected again")
    press(module, "p")
    wait_until(lambda: again.commands == ["prepareRobot"], "commands come again")
    again.close()


def test_a_key_that_is_none_is_refused(run):
    module, _ = run()
    assert "'f' is no key (valid: up" in press(module, "f")[1]


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [("walking.period=1", "has the table .joypad. alone"), ("joypad.step=x", "expected a number"), ("joypad.a=1", "a")],
)
def test_settings_of_others_are_refused(setting, complaint):
    with pytest.raises(ConfigError, match=complaint):
        JoypadModule(ModuleOptions(overrides=(setting,)))
