"""The logger over ports: its source may come late, be restarted and go."""

import threading

import pytest

from gradiva.middleware import VectorsCollectionServer, VectorsSample, Vocab32, as_bottle, as_items, yarp
from gradiva.telemetry import RunFolder
from gradiva.yarp_modules.logger import LoggerModule, logger_module
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.rpc_commands import is_ok
from tests.middleware.conftest import isolated_config_home, own_name_server  # noqa: F401 (fixtures)
from tests.waiting import TIMEOUT, wait_until


@pytest.fixture
def logger(own_name_server, tmp_path):  # noqa: F811
    module = LoggerModule(ModuleOptions(extras={"out": str(tmp_path / "runs"), "remote": "/source"}))
    thread = threading.Thread(target=lambda: module.runModule(yarp.ResourceFinder()), daemon=True)
    thread.start()
    yield module
    module.stopModule()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def ask(module, word):
    reply = yarp.Bottle()
    module.respond(as_bottle([word]), reply)
    return as_items(reply)


def publish(module, count):
    """Send, as one run of a source, until the logger has taken ``count`` samples more."""
    with VectorsCollectionServer("/source") as server:
        server.populate_metadata("zmp::measured", ["x", "y"])
        stamp = yarp.Stamp()
        wanted = module._recorder.samples + count

        def sent():
            stamp.update()
            server.send({"zmp::measured": [1.0, 2.0]}, stamp)
            return module._recorder.samples >= wanted

        wait_until(sent, "the logger takes samples")


def test_each_run_of_a_source_that_is_restarted_has_its_folder(logger, tmp_path):
    publish(logger, 20)
    publish(logger, 20)
    wait_until(lambda: logger._recorder.runs == 2, "two runs")
    assert is_ok(ask(logger, "stop"))
    wait_until(lambda: logger._recorder.run is None, "the run is written")
    runs = [RunFolder(path) for path in sorted((tmp_path / "runs").iterdir())]
    assert len(runs) == 2
    for run in runs:
        assert len(run.read_log().log) >= 10
        assert run.read_log().log.info("zmp::measured").elements == ("x", "y")
    reasons = [run.read_result()["reason"] for run in runs]
    assert reasons[0] in ("the source was restarted", "the connection to the source was lost")
    assert reasons[1] == "stopped by command"
    status = ask(logger, "getStatus")
    assert status[1] == "stopped"
    assert ["lost", 0] in status


def test_messages_that_came_since_the_last_tick_are_in_the_log(logger, tmp_path):
    with VectorsCollectionServer("/source") as server:
        server.populate_metadata("zmp::measured", ["x", "y"])
        stamp = yarp.Stamp()

        def send(value):
            stamp.update()
            server.send({"zmp::measured": [value, 0.0]}, stamp)

        wait_until(lambda: send(1.0) or logger._recorder.samples > 0, "the logger takes samples")
        logger.tick = lambda: True
        wait_until(lambda: logger._client.read() is None, "nothing is pending")
        for _ in range(7):
            send(2.0)
        wait_until(lambda: logger._client._port.getPendingReads() >= 7, "they have come")
        logger.stopModule()
        wait_until(lambda: logger._recorder.run is None, "the run is written")
    (run,) = (tmp_path / "runs").iterdir()
    values = RunFolder(run).read_log().log["zmp::measured"][:, 0].tolist()
    assert values[-7:] == [2.0] * 7
    assert 2.0 not in values[:-7]


def test_a_source_that_is_faster_than_the_logger_keeps_it_neither_from_ending_nor_from_its_log(
    logger, tmp_path, monkeypatch
):
    monkeypatch.setattr(logger_module, "_LAST_SAMPLES", 0.1)
    publish(logger, 1)
    sample = VectorsSample({"zmp::measured": [1.0, 2.0]}, None, logger._names_version)
    monkeypatch.setattr(logger._client, "read", lambda: sample)
    monkeypatch.setattr(type(logger._client), "pending", 1_000_000)
    wait_until(lambda: logger._recorder.samples > 1000, "it is flooded")
    logger.stopModule()
    wait_until(lambda: logger.joinModule(0.1), "it has ended")
    assert len(RunFolder(max((tmp_path / "runs").iterdir())).read_log().log) >= 1000


def test_wrong_values_are_refused_with_the_reason(logger):
    wait_until(lambda: logger.health.state != "", "it runs")
    assert ask(logger, "start") == [Vocab32(yarp.encode("fail")), "it is recording already"]
    assert is_ok(ask(logger, "stop"))
    wait_until(lambda: ask(logger, "getStatus")[1] == "stopped", "it has stopped")
    assert ask(logger, "stop") == [Vocab32(yarp.encode("fail")), "it is not recording"]
    assert is_ok(ask(logger, "start"))
    wait_until(lambda: ask(logger, "getStatus")[1] == "waiting for signals", "it has started")
