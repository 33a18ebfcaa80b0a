"""The walking module against the simulator's ports, in lockstep."""

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.middleware import VectorsCollectionClient, as_items, fill_bottle, yarp
from gradiva.session import Figure, HealthRecord, Reply
from gradiva.setup import load_robot
from gradiva.telemetry import RunFolder
from gradiva.walking import WalkingState
from gradiva.yarp_modules import walking_module
from gradiva.yarp_modules.gradiva_module import run_module
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.rpc_commands import is_ok, word
from gradiva.yarp_modules.walking_module import WalkingModule
from gradiva.yarp_modules.walking_ports import WalkingPorts
from pureyarp.network.network import life
from tests.cli.yarp.conftest import configured, name_server, start  # noqa: F401 (fixtures)
from tests.session.walking_double import fresh_layers
from tests.waiting import TIMEOUT, wait_until

QUICK = ("walking.prepare_duration=0.3",)


def running(module):
    assert module.runModuleThreaded(yarp.ResourceFinder()) == 0
    return module


@pytest.fixture
def simulator(name_server, start):  # noqa: F811
    tool = start("module", "simulator", "--robot", "icub_v2_7", "--lockstep", "--speed", "0", "--quiet")
    yarp.useNetworkClock("/clock")
    yield tool
    yarp.useSystemClock()
    life.end()


@pytest.fixture
def dumps(tmp_path):
    return tmp_path / "dumps"


@pytest.fixture
def walking(simulator, dumps):
    wait_until(yarp.isValid, "the simulated clock runs")
    options = {"lockstep": True, "overrides": QUICK, "extras": {"dumps": str(dumps)}}
    module = running(WalkingModule(ModuleOptions(robot="icub_v2_7", **options)))
    yield module
    module.stopModule(True)


def ask(text, port="/walking-coordinator/rpc"):
    reply, style = yarp.Bottle(), yarp.ContactStyle()
    style.timeout = TIMEOUT
    assert yarp.Network.write(yarp.Network.queryName(port), yarp.Bottle(text), reply, style)
    return as_items(reply)


def state():
    return word(ask("getStatus")[1])


def status():
    return dict(ask("getStatus")[2:])


def wait_for(condition, what):
    wait_until(condition, lambda: f"{what}: {ask('getReason')}")


@pytest.fixture
def alone(name_server, monkeypatch):  # noqa: F811
    """Run a module without a robot; its layers were built before."""
    monkeypatch.setattr(WalkingModule, "make_layers", lambda *_: fresh_layers())
    module = running(WalkingModule(ModuleOptions(robot="icub_v2_7")))
    yield module
    module.stopModule(True)


def test_a_robot_that_is_not_there_is_waited_for(alone):
    wait_until(lambda: state() == "waiting", "the controller is compiled")
    reply = ask("prepareRobot")
    assert word(reply[0]) == "fail"
    assert reply[1].startswith("waiting for the robot: ")
    assert word(ask("dance")[0]) == "fail"
    wait_for(lambda: "/icubSim/torso" in ask("getReason")[1], "the missing ports are named")


def test_a_module_answers_while_its_controller_is_compiled(name_server, monkeypatch):  # noqa: F811
    is_compiled = threading.Event()

    def compile_slowly(*_):
        assert is_compiled.wait(TIMEOUT)
        return fresh_layers()

    monkeypatch.setattr(WalkingModule, "make_layers", compile_slowly)
    module = running(WalkingModule(ModuleOptions(robot="icub_v2_7")))
    assert state() == "compiling"
    assert ask("prepareRobot")[1].startswith("the controller is being prepared; compiling it takes up to a minute")
    assert word(ask("emergencyStop")[0]) == "fail"  # no motor is this module's yet
    is_compiled.set()
    wait_until(lambda: state() == "waiting", "the controller is compiled")
    module.stopModule(True)


def test_a_controller_that_cannot_be_built_ends_the_module_with_its_reason(name_server, monkeypatch):  # noqa: F811
    def refuse(self, robot):
        raise ConfigError("no such task")

    monkeypatch.setattr(WalkingModule, "make_layers", refuse)
    with pytest.raises(ConfigError, match="no such task"):
        run_module(WalkingModule, ["--robot", "icub_v2_7"])


def test_a_module_that_is_ending_carries_out_nothing_but_an_emergency_stop(alone, monkeypatch):
    wait_until(lambda: state() == "waiting", "the controller is compiled")
    monkeypatch.setattr(alone, "isStopping", lambda: True)
    assert alone.answer(["startWalking"])[1] == "cannot carry out startWalking: this module is ending"
    assert alone.answer(["getStatus"])[1] == "waiting"
    assert alone.answer(["emergencyStop"])[1].startswith("waiting for the robot: ")
    assert alone.answer(["dance"]) is None
    monkeypatch.undo()


@pytest.mark.walk
def test_a_walk_by_rpc_and_by_joypad_with_a_logger_and_the_end_of_its_simulator(walking, simulator, dumps, caplog):
    walk_by_rpc()
    walk_by_joypad()
    ask_for_a_dump()
    freeze()
    wait_until(lambda: any(dumps.glob("*emergency_stop/report.html")), "the fault is written")
    lose_the_simulator(walking, simulator, caplog)
    look_at_dumps(dumps)


def walk_by_rpc():
    wait_for(lambda: state() == "configured", "the robot is reached")
    assert ask("startWalking")[1] == "cannot start while configured: prepare the robot first"
    assert is_ok(ask("prepareRobot onTheFly"))
    wait_for(lambda: state() == "prepared", "it balances")
    assert is_ok(ask("startWalking"))
    logger = VectorsCollectionClient("/walking-coordinator/logger", "/test/logger")
    logger.open()
    assert is_ok(ask("setGoal (0.15 0.0)"))
    sample = logger.read(TIMEOUT)
    assert len(sample.vectors["dcm::position::measured"]) == 2
    assert len(sample.vectors["joints_state::positions::measured"]) == 23
    assert logger.element_names()["com::position::desired"] == ["x", "y", "z"]
    logger.close()
    wait_for(lambda: state() == "paused", "it arrives")


def walk_by_joypad():
    drive([0.3, 0.0, 0.0])
    wait_for(lambda: state() == "walking", "the joypad drives")
    wait_for(lambda: state() == "paused", "the walk stops without the joypad")
    assert "goal:i has been silent" in ask("getReason")[1]
    chatter = dict(status()["chatter"])
    assert 0.0 < chatter["foot_force"] < 0.5
    assert chatter["zmp"] < 0.05
    assert chatter["joint"] in load_robot("icub_v2_7").joints


def freeze():
    assert is_ok(ask("emergencyStop"))
    wait_for(lambda: state() == "fault", "it is frozen")
    frozen = status()["time"]
    wait_for(lambda: status()["time"] > frozen + 0.5, "time goes on")
    fall = dict(ask("getStatus", "/simulator/rpc")[1:])["fall"]
    assert fall == ""
    np.testing.assert_allclose(status()["pose"][0], 0.25, atol=0.2)


def ask_for_a_dump():
    reply = ask("dump")
    assert is_ok(reply), reply
    assert reply[1].endswith("until 'asked for'")


def look_at_dumps(dumps):
    """See a run for the emergency stop, for the question, and for the signal that ended the module."""
    found = {folder.name.partition("black-box-")[2]: RunFolder(folder) for folder in dumps.iterdir()}
    assert {"emergency_stop", "asked-for", "SIGTERM"} <= found.keys(), found
    frozen = found["emergency_stop"]
    assert frozen.read_result()["reason"].startswith("emergency_stop; fault: emergency stop")
    assert frozen.report_path.is_file()
    log = frozen.read_log().log
    assert {"sensors::age", "boards::motor_positions", "tick::lateness", "zmp::measured"} <= set(log)
    period = np.median(np.diff(log.times))
    assert period == pytest.approx(0.01, abs=2e-3)
    newest = log["sensors::age"].min(axis=1)  # as the simulated clock, too, comes in messages, some may be ahead
    assert np.quantile(np.abs(newest), 0.9) < 0.022
    assert found["SIGTERM"].read_log().log.times[-1] > log.times[-1]


def lose_the_simulator(walking, simulator, caplog):
    """Walk again, kill the simulator: the module ends at once and logs it."""
    for command in ("prepareRobot", "startWalking"):
        wait_for(lambda command=command: is_ok(ask(command)), command)
    assert is_ok(ask("setGoal (velocity 0.2)"))
    simulator.process.kill()
    simulator.process.wait()
    wait_until(lambda: not yarp.Network.exists("/icubSim/torso/rpc:i"), "the simulator is gone")
    caplog.clear()
    walking.signals = SimpleNamespace(first="SIGTERM")
    walking.stopModule(True)
    logged = [record.message for record in caplog.records if record.name in ("gradiva.module", "gradiva.robot")]
    assert "walking: the robot is silent, so its feet stay as they are" in logged
    assert "the robot is gone: it cannot be commanded to hold its position" in logged
    assert sum("does not answer" in record.message for record in caplog.records) <= 1  # a question under way


def drive(goal):
    """Send nonsense, which is refused, then a goal."""
    port = yarp.BufferedPortBottle()
    assert port.open("/test/joypad")
    assert yarp.Network.connect("/test/joypad", "/walking-coordinator/goal:i")
    fill_bottle(port.prepare(), ["nonsense"])
    port.write(True)
    wait_for(lambda: status()["refused_messages"] == 1, "nonsense is refused")
    fill_bottle(port.prepare(), list(goal))
    port.write(True)
    port.close()


def test_commands_are_carried_out_when_the_robot_raises_in_lockstep():
    module, served = WalkingModule(ModuleOptions(robot="icub_v2_7", lockstep=True)), []
    module._session = SimpleNamespace(serve=lambda: served.append("commands"))
    module._robot = SimpleNamespace(sample_time=lambda: {}["l_knee"], lost_connections=list)
    with pytest.raises(KeyError):
        module.wait_for_tick()
    assert served == ["commands"]


def test_in_lockstep_a_late_sample_is_looked_for_less_often_and_the_last_one_is_found(monkeypatch):
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda pause: now.__setitem__(0, now[0] + pause))
    monkeypatch.setattr(walking_module, "machine_time", clock)
    looks = []

    def awaited(comes):
        now[0], module = 0.0, WalkingModule(ModuleOptions(robot="icub_v2_7", lockstep=True))
        module._robot = SimpleNamespace(sample_time=lambda: looks.append(now[0]) or (1.0 if now[0] >= comes else 0.0))
        module._samples.is_new(0.0)
        looks.clear()
        return module._has_new_sample(), now[0]

    found, time = awaited(0.01)
    assert found
    assert 0.01 <= time <= 0.0105 + 1e-9, "half a millisecond at most"
    found, time = awaited(0.499)
    assert found
    assert time == pytest.approx(0.5)
    found, time = awaited(math.inf)
    assert not found
    assert time == pytest.approx(0.5)
    assert len(looks) < 250


def test_a_robot_whose_last_exercise_was_red_is_prepared_only_anyway(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    sick = Figure("l_knee", "follows", 0.3, "-", 0.8, 1.2, 0.1)
    HealthRecord("icub_v2_7", "simulation").append("stands", [sick])
    module, asked = WalkingModule(ModuleOptions(robot="icub_v2_7")), []

    def answer(command):
        asked.append(command.word)
        return Reply()

    controller = SimpleNamespace(state=WalkingState.CONFIGURED)
    module._session = SimpleNamespace(status=None, controller=controller, answer=answer)
    for refused in (["prepareRobot"], ["prepareRobot", "onTheFly"], ["goHome"]):
        reason = module.answer(refused)[1]
        assert "found l_knee follows 0.3 -, healthy 0.8 to 1.2; mend it and exercise again, or prep" in reason
    assert is_ok(module.answer(["prepareRobot", "anyway"]))
    assert is_ok(module.answer(["emergencyStop"]))
    controller.state = WalkingState.WALKING
    assert is_ok(module.answer(["goHome"]))
    assert asked == ["prepareRobot", "emergencyStop", "goHome"]


def test_a_message_that_raises_is_refused_and_the_others_are_read(monkeypatch):
    ports, taken = WalkingPorts("/walking", ["l_knee"]), []
    for name, port in ports._inputs.items():
        monkeypatch.setattr(port, "take", lambda name=name: [1.0] if name != "goal:i" else {}[name])
    ports.read(taken.append, taken.append)
    assert ports.refused == 1
    assert taken == [[1.0]]
    assert ports.robot_base == (1.0,)


def test_wrong_configuration_is_wrong_input(name_server):  # noqa: F811
    with pytest.raises(ConfigError, match="goal_timeout"):
        WalkingModule(ModuleOptions(robot="icub_v2_7", overrides=("coordinator.goal_timeout=-1",)))
