"""Dumps of a black box as run folders, written by a process of their own, and archives of them."""

import json
import pickle
import zipfile
from dataclasses import replace
from multiprocessing import Pipe
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.cli import dumps
from gradiva.cli.black_box import BlackBoxWriter
from gradiva.cli.dumps import write_archive, write_dump
from gradiva.common import ConfigError
from gradiva.planner import VelocityCommand
from gradiva.session import RecordedRun, Recording, SignalRing, Trigger, sensor_signals
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva.telemetry import RunFolder, write_report
from gradiva.walking import WalkingState, walking_signals
from tests.full_disk import full_at

PUSH = 'simulation.pushes=[{start=2.0,duration=0.1,link="root_link",force=[0,400,0]}]'


@pytest.fixture(scope="module")
def fall():
    """Return the ring of a robot that a push topples, its last tick and the description of its run."""
    setup = load_setup("icub_v2_7", ["walking.prepare_duration=0.3", PUSH])
    walk, ring = SimulatedWalk(setup), SignalRing(6000, 16 * len(setup.robot.joints) + 320)
    walk.controller.prepare()
    while walk.controller.state is not WalkingState.FAULT and walk.time < 5.0:
        log = walk.control()
        loop = walking_signals(log, walk.measurement) if log.desired is not None else {}
        ring.append(log.time, sensor_signals(log, walk.measurement), loop, {"tick::total": 1.0})
        walk.robot.advance(0.01)
        if log.state is WalkingState.PREPARED and walk.time > 1.0:
            walk.controller.start()
            walk.controller.walk(VelocityCommand(0.1, duration=5.0))
    layers = walk.layers
    limits = layers.joint_limits, layers.joint_bounds.velocities, layers.torque_limits
    module = {"command": ["gradiva-walking"], "ports": "/walking-coordinator"}
    run = RecordedRun(setup, None, *limits, module)
    events = walk.controller.safety_events
    trigger = Trigger(str(events[0].kind), True, f"fault: {walk.controller.reason}", events, ("12:00 fell",), walk.time)
    return SimpleNamespace(ring=ring, run=run, recording=Recording(dict(ring.columns)), trigger=trigger)


def written(fall, folder, triggers=None):
    run = replace(fall.run, parent=folder)
    given = [fall.trigger] if triggers is None else triggers
    return write_dump(run, fall.recording, fall.ring.snapshot(), given)


@pytest.mark.walk
def test_a_dump_is_a_run_with_diagnosis_report_and_machine(fall, tmp_path):
    line = written(fall, tmp_path)
    (folder,) = map(RunFolder, tmp_path.iterdir())
    assert line.startswith(f"{folder.path}: the last ")
    assert "not saved" not in line
    result, log = folder.read_result(), folder.read_log().log
    assert result["reason"].startswith(f"{fall.trigger.reason}; fault: ")
    assert result["diagnosis"]["cause"] == "push"
    assert [event["kind"] for event in result["safety_events"]] == [fall.trigger.reason]
    assert log.times[-1] == pytest.approx(fall.trigger.time, abs=0.02)
    assert np.isnan(log["dcm::position::measured"][0]).all()  # the loop did not run yet
    assert log.info("sensors::joint_positions").elements == log.info("joints_state::positions::measured").elements
    assert log.info("sensors::contact_wrenches").elements[2] == "l_foot_ft_fz"
    assert folder.read_config()["walking"]["period"] == 0.01
    machine = json.loads((folder.path / "machine.json").read_text())
    assert machine["module"]["ports"] == "/walking-coordinator"
    assert "numpy" in machine["packages"]
    assert (folder.path / "messages.txt").read_text() == "12:00 fell\n"
    page = folder.report_path.read_text()
    assert "a push of about" in page
    write_report(folder)  # as `gradiva report` does, from the whole log
    assert "a push of about" in folder.report_path.read_text()


@pytest.mark.walk
def test_what_a_disk_takes_is_written_and_the_rest_is_one_line(fall, tmp_path):
    with full_at(800_000):
        line = written(fall, tmp_path)
    (folder,) = map(RunFolder, tmp_path.iterdir())
    kept = folder.read_log().log
    assert 0.0 < kept.times[-1] - kept.times[0] < 2.0
    assert kept.times[-1] == pytest.approx(fall.trigger.time, abs=0.02)
    assert f"the last {kept.times[-1] - kept.times[0]:.1f} s" in line
    assert "s before: the disk is full" in line
    assert folder.read_result()["diagnosis"]["cause"] == "push"
    with full_at(100), pytest.raises(ConfigError, match="cannot write"):
        written(fall, tmp_path / "full")


@pytest.mark.walk
def test_the_minute_before_a_controller_was_killed_is_written(fall, tmp_path):
    ours, theirs = Pipe()
    run = replace(fall.run, parent=tmp_path)
    for note, content in (("run", run), ("recording", fall.recording)):
        ours.send((note, pickle.dumps(content)))
    ours.close()
    BlackBoxWriter(theirs, (fall.ring.handle, fall.ring.rows, fall.ring.width)).run()
    (folder,) = map(RunFolder, tmp_path.iterdir())
    assert folder.name.endswith("icub_v2_7-black-box-the-controller-was-killed")
    assert folder.read_result()["reason"].startswith("the controller was killed; cause: a push of about ")


def test_a_controller_that_ends_in_order_leaves_nothing(tmp_path):
    ours, theirs = Pipe()
    for note in ("recording", "end"):
        ours.send((note, pickle.dumps(None)))
    BlackBoxWriter(theirs, (0, 0, 0)).run()
    assert not ours.poll()


def test_triggers_that_come_within_two_seconds_of_a_fault_are_one_dump(monkeypatch):
    ours, theirs = Pipe()
    for reason, is_fault in (("warm", False), ("tilt", True), ("height", True)):
        trigger = Trigger(reason, is_fault, "", (), (), 1.0, is_asked=reason == "height")
        ours.send(("dump", pickle.dumps(trigger)))
    ours.send(("end", pickle.dumps(None)))
    writes = []
    writer = BlackBoxWriter(theirs, (0, 0, 0))
    monkeypatch.setattr(writer, "_write", lambda triggers: writes.append([each.reason for each in triggers]))
    writer.run()
    assert writes == [["warm"], ["tilt", "height"]]


def test_an_archive_lists_its_contents_and_leaves_out_home_folders(tmp_path, monkeypatch):
    run = RunFolder.create(tmp_path, "walk", {"walking": {"period": 0.01}})
    home = "/".join(["", "home", "ada"])
    text = f'{{"report": "{home}/runs/x", "host": "tin-man", "link": "https://x.org/home/page"}}'
    run.result_path.write_text(text)
    monkeypatch.setattr(dumps.socket, "gethostname", lambda: "tin-man")
    monkeypatch.setattr(dumps.getpass, "getuser", lambda: "adalovelace")
    path = tmp_path / "walk.zip"
    lines = write_archive(run, path)
    assert [line.split()[2:] for line in lines] == [
        ["config.toml"],
        ["machine.json"],
        ["result.json:", "names", "this", "host"],
    ]
    with zipfile.ZipFile(path) as archive:
        found = archive.read(f"{run.name}/result.json").decode()
    assert found == text.replace(home, "~")
    with pytest.raises(ConfigError, match="exists already"):
        write_archive(run, path)
