import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from gradiva.cli.applications.claims import claim_of, refuse_shared_ports
from gradiva.cli.applications.running import as_requested, log_additions, plant_additions, with_panel
from gradiva.cli.commands import carry_out
from gradiva.common import ConfigError
from gradiva.middleware import use_settings, yarp
from gradiva.yarp_modules.application import (
    MARK,
    AlreadyRunsError,
    RunClaim,
    RunOrigin,
    RunRecord,
    StartedProcess,
    load_application,
    records_folder,
)
from tests.pureyarp.network.raw_sockets import free_port
from tests.waiting import wait_until


def records():
    folder = Path("state") / "gradiva" / "applications"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def status():
    (path,) = Path("runs").glob("*/status.json")
    return json.loads(path.read_text())


def is_running():
    try:
        found = status()
    except ValueError:  # not yet written
        return False
    return found["outcome"] == "running" and found["connections"][0]["connected"]


def marked():
    """Processes of this test: they know its folder."""
    known = f"YARP_CONFIG_HOME={os.environ['YARP_CONFIG_HOME']}".encode()
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            try:
                environment = (path / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if known in environment:
                found.append(int(path.name))
    return found


def test_an_application_runs_and_leaves_nothing_behind(application, start):
    tool = start("app", "run", application, "--json", "result.json")
    wait_until(is_running, "both run and are connected")
    assert [module["name"] for module in status()["modules"]] == ["dummy_module.py", "dummy_module.py-2"]
    assert len(marked()) == 6, "runner, name server, two modules and their children"
    code, out, err = tool.stop(signal.SIGINT)
    assert code == 0, err
    assert "no name server answered" in err
    assert [line for line in out.splitlines() if "stopped (" in line] == [
        "dummy_module.py-2 stopped (quit)",
        "dummy_module.py stopped (quit)",
    ]
    result = json.loads(Path("result.json").read_text())
    assert result["outcome"] == "stopped"
    assert [module["exit_status"] for module in result["modules"]] == [0, 0]
    assert marked() == []
    assert records() == []
    log = next(Path("runs").glob("*/dummy_module.py.log")).read_text()
    assert log.splitlines() == ["ready /a", "closed"]


def test_leftovers_of_a_killed_runner_are_reported_and_removed_by_stop(application, start, names, capsys):
    tool = start("app", "run", application)
    wait_until(is_running, "both run and are connected")
    assert carry_out(["app", "run", str(application)]) == 1
    refusal = capsys.readouterr().err
    assert f"two_dummies is running already (process {tool.process.pid} of " in refusal
    assert f"folder {Path.cwd()}/runs/" in refusal
    tool.stop(signal.SIGKILL)
    os.kill(next(module["process"] for module in status()["modules"]), signal.SIGSTOP)  # one hears nothing any more
    assert carry_out(["app", "status"]) == 1
    assert "left behind" in capsys.readouterr().out
    assert {"/a/rpc", "/b/rpc"} <= names()
    assert carry_out(["app", "stop"]) == 0
    assert "ended dummy_module.py-2, dummy_module.py, forgot 3 ports" in capsys.readouterr().err
    assert marked() == []
    assert not {name for name in names() if name.startswith(("/a", "/b"))}
    assert records() == []


def test_stop_ends_the_runs_of_its_own_network_from_outside(application, start, names, monkeypatch, capsys, tmp_path):
    theirs = RunClaim(records_folder(), "two_dummies")
    with theirs.held():
        theirs.write(RunRecord("two_dummies", 2**22 + 1, "mark", "/folder"))
        monkeypatch.setenv("YARP_NAMESPACE", "/ana")
        (tmp_path / "_ana.conf").write_text(f"127.0.0.1 {free_port()} yarp\n")
        use_settings(None)
        tool = start("app", "run", application, "--output")
        wait_until(is_running, "both run and are connected")
        assert carry_out(["app", "stop", str(application)]) == 0
        assert capsys.readouterr().out == "two_dummies stopped\n"
        code, out, err = tool.end()
        assert code == 0, err
        assert "dummy_module.py ready /a" in out
        assert carry_out(["app", "stop"]) == 0
        assert capsys.readouterr().out == "no application runs\n"
        assert theirs.read() is not None
    theirs.clear()


def test_a_module_that_fails_is_the_reason_and_the_status(application, capsys, name_server):
    application.write_text("<application><name>n</name><module><name>false</name></module></application>")
    assert carry_out(["app", "run", str(application), "--json", "-"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["outcome"] == "failed"
    assert result["reason"].startswith("false ended with status 1")


def test_modules_may_be_left_out_and_get_more_parameters(application, capsys, name_server):
    application.write_text(
        "<application><name>n</name><module><name>false</name></module>"
        "<module><name>echo</name><parameters>one</parameters></module></application>"
    )
    assert carry_out(["app", "run", str(application), "--without", "false", "--add", "echo=two 'three four'"]) == 0
    assert next(Path("runs").glob("*/echo.log")).read_text() == "one two three four\n"


def test_it_runs_for_as_long_as_was_asked_for(application, capsys, name_server):
    application.write_text(
        "<application><name>n</name><module><name>sleep</name><parameters>1000</parameters></module></application>"
    )
    assert carry_out(["app", "run", str(application), "--duration", "0.3"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["sleep stopped (terminated)", "stopped"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "talos-simulatio"], "no application 'talos-simulatio'; did you mean 'talos-simulation'?"),
        (["run", "none.xml"], "none.xml: there is no such file"),
        (["run", "two.xml", "--without", "x"], "the application has no module 'x'"),
        (["run", "two.xml", "--add", "dummy_modul=x"], "no module 'dummy_modul'; did you mean 'dummy_module.py'?"),
        (["run", "two.xml", "--add", "dummy_module.py=--x 'y"], "--add dummy_module.py=--x 'y: No closing quotation"),
        (["run", "two.xml", "--add", "dummy_module.py"], "expected MODULE=PARAMETERS"),
        (["run", "talos-simulation", "--from", "none.toml"], "--from none.toml: no such file, neither here nor in"),
        (["stop", "talos-simulatio"], "no application 'talos-simulatio'"),
        (
            ["run", "icub_v3-simulation-three", "--set", "walking.model=centroidal"],
            "walking model: unknown law 'centroidal'; did you mean 'centroidal_mpc'?",
        ),
    ],
)
def test_wrong_input_is_one_line_and_status_2(application, capsys, arguments, message):
    assert carry_out(["app", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_loggers_write_beside_the_run_unless_they_are_to_write_elsewhere(tmp_path):
    application = load_application("talos-simulation")
    additions = log_additions(application, tmp_path / "some where")
    elsewhere = as_requested(application, [], additions)
    assert elsewhere.titles()["gradiva-logger"].arguments[-2:] == ["--out", str(tmp_path / "some where")]
    assert log_additions(elsewhere, tmp_path) == []


def test_another_application_with_the_same_ports_is_refused_before_its_modules_start(
    application, capsys, name_server, tmp_path
):
    other = "<application><name>other</name><module><name>false</name><parameters>--name /b</parameters></module>"
    application.write_text(f"{other}</application>")
    yarp.Network.init()
    namesake = yarp.Port()
    assert namesake.open("/b/rpc")
    claim = RunClaim(records_folder(), "two_dummies")
    with claim.held():
        origin = RunOrigin("ana", "", "/dev/pts/4", "2026-03-05 10:12")
        claim.write(RunRecord("two_dummies", 17, "m", "/f", (), (StartedProcess("b", 18, "/b"),), origin))
        assert carry_out(["app", "run", str(application)]) == 1
    claim.clear()
    assert (
        "other cannot have the ports /b: two_dummies is running already (process 17 of ana on , /dev/pts/4, since"
        " 2026-03-05 10:12; folder /f): stop it by `gradiva app stop two_dummies`, or run yours beside it on"
    ) in capsys.readouterr().err
    assert carry_out(["app", "run", str(application)]) == 1
    assert "other cannot have the ports /b: a module at /b answers already on this YARP network, at 127.0.0.1:" in (
        capsys.readouterr().err
    )
    namesake.close()
    assert not (tmp_path / "runs").exists(), "no module was started"


def test_ports_are_those_of_the_run_that_lives_though_a_dead_one_lists_them_before(application, name_server):
    process = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: "living"})
    runs = [("a dead run", "dead", 2**22 + 1), ("living", "living", process.pid)]  # Linux has no such number
    try:
        for name, mark, number in runs:
            claim = claim_of(name)
            with claim.held():
                claim.write(RunRecord(name, 17, mark, "/f", (), (StartedProcess("b", number, "/b"),)))
        with pytest.raises(AlreadyRunsError, match=r"the ports /b: living is running already"):
            refuse_shared_ports(load_application(str(application)))
    finally:
        process.kill()
        process.wait()


def test_a_second_module_of_a_name_in_a_network_says_in_the_terminal_why_it_ends(application, capsys, name_server):
    """Without --name in the file, the runner does not know its ports."""
    application.write_text("<application><name>n</name><module><name>gradiva-logger</name></module></application>")
    yarp.Network.init()
    namesake = yarp.Port()
    assert namesake.open("/logger/rpc")
    assert carry_out(["app", "run", str(application)]) == 1
    assert "port /logger/rpc answers already: is this module running?" in capsys.readouterr().out
    namesake.close()


def test_the_plant_goes_to_the_simulators_of_an_application():
    application = load_application("talos-simulation-three")
    assert plant_additions(application, None) == []
    (addition,) = plant_additions(application, "robot")
    simulator = as_requested(application, [], [addition]).titles()["gradiva-simulator"]
    assert simulator.arguments[-2:] == ["--plant", "robot"]


@pytest.mark.parametrize(
    ("name", "plant", "message"),
    [
        ("talos-hardware", "robot", "--plant robot: the application talos-hardware has no gradiva-simulator"),
        ("talos-simulation", "robto", "unknown plant 'robto'; did you mean 'robot'"),
    ],
)
def test_a_plant_that_nothing_simulates_is_refused(name, plant, message):
    with pytest.raises(ConfigError, match=message):
        plant_additions(load_application(name), plant)


def test_the_installed_applications_are_listed(application, capsys):
    assert carry_out(["app", "list", "--json", "-"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["applications"]}
    assert found["talos-simulation"]["modules"] == ["gradiva-simulator", "gradiva-walking", "gradiva-logger"]
    assert found["icub_v3-hardware"]["description"] == "iCub v3 walks on the robot, layers in one process"


def test_the_panel_joins_an_application_with_the_controllers_robot_and_ports():
    viewed = with_panel(load_application("talos-hardware-three"))
    panel = viewed.titles()["gradiva-panel"]
    assert panel.arguments == [
        *("--robot", "talos", "--environment", "hardware", "--remote", "/walking-coordinator", "--name", "/panel"),
    ]
    assert panel.rank > max(module.rank for module in viewed.modules if module is not panel)


def test_an_application_without_a_controller_has_no_panel():
    application = load_application("talos-simulation")
    without = as_requested(application, ["gradiva-walking"], [])
    with pytest.raises(ConfigError, match="has no controller"):
        with_panel(without)
