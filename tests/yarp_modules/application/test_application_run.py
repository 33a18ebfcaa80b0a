import os
import signal
import sys
import threading

import pytest

from gradiva.common import ConfigError
from gradiva.middleware import yarp
from gradiva.yarp_modules.application import ApplicationRun, RunOptions, StartFailed, end_marked, read_application
from gradiva.yarp_modules.application.running_module import EndTimeouts, ModuleState, marked_processes
from tests.waiting import TIMEOUT, wait_until

SLEEPER = "<module><name>sleep</name><parameters>1000</parameters>{}</module>"


class Answerer(yarp.PortReader):
    """Answers everything by ``c``."""

    def read(self, connection):
        command = yarp.Bottle()
        if not command.read(connection):
            return False
        writer = connection.getWriter()
        return writer is None or yarp.Bottle("c").write(writer)


@pytest.fixture
def port(own_name_server):
    yarp.Network.init()
    port, answerer = yarp.Port(), Answerer()
    port.setReader(answerer)
    assert port.open("/there")
    yield port
    port.close()


@pytest.fixture
def run_of(written, tmp_path, own_name_server):
    """Return a function that prepares a run of modules; their processes end with the test."""
    runs = []

    def prepare(modules, options=None, **others):
        application = read_application(written(f"<application><name>n</name>{modules}</application>"))
        mark = f"test-{os.getpid()}-{len(runs)}"
        lines = []
        run = ApplicationRun(application, tmp_path, mark, options, lines.append, **others)
        run.lines, run.mark = lines, mark
        runs.append(run)
        return run

    yield prepare
    for run in runs:
        run.stop(threading.Event())
        assert end_marked(run.mark, EndTimeouts(), threading.Event()) == []


def never():
    return threading.Event()


def watched(run):
    """Watch a run in a thread; return what ends that."""
    stop = threading.Event()
    thread = threading.Thread(target=run.watch, args=(stop,))
    thread.start()

    def end():
        stop.set()
        thread.join(TIMEOUT)
        assert not thread.is_alive()

    return end


def test_modules_start_by_rank_and_stop_in_reverse(run_of):
    run = run_of(SLEEPER.format("<rank>2</rank>") + SLEEPER.format("<rank>1</rank>"))
    run.start(never())
    assert [module.state for module in run.modules] == [ModuleState.RUNNING] * 2
    wait_until(lambda: len(marked_processes(run.mark)) == 2)  # on a loaded machine programs begin late
    run.stop(never())
    assert [line.split(",")[0] for line in run.lines] == [
        "sleep started",
        "sleep-2 started",
        "sleep-2 stopped (terminated)",
        "sleep stopped (terminated)",
    ]
    assert run.modules[0].module.rank == 1
    assert marked_processes(run.mark) == []
    assert run.failure == ""


def test_a_module_waits_for_its_ports(run_of, port):
    run = run_of(SLEEPER.format("<dependencies><port>/there</port><port timeout='20'>/late</port></dependencies>"))
    thread = threading.Thread(target=run.start, args=(never(),))
    thread.start()
    wait_until(lambda: run.modules[0].waits_for == "/late", "it waits")
    assert run.modules[0].process is None
    late = yarp.Port()
    late.open("/late")
    thread.join(TIMEOUT)
    assert run.modules[0].state is ModuleState.RUNNING
    late.close()


def test_a_port_that_does_not_come_is_a_failure_that_names_module_and_port(run_of):
    run = run_of(SLEEPER.format("<dependencies><port timeout='0.1'>/never</port></dependencies>"))
    with pytest.raises(StartFailed, match=r"sleep needs port /never, which did not come in 0 s"):
        run.start(never())


def test_a_port_that_answers_otherwise_is_waited_for_in_vain(run_of, port):
    modules = SLEEPER.format("<dependencies><port timeout='0.1' request='a' reply='b'>/there</port></dependencies>")
    with pytest.raises(StartFailed, match=r"sleep needs the answer b of /there to a"):
        run_of(modules).start(never())
    run_of(modules.replace("'b'", "'c'")).start(never())


def test_waiting_ends_when_the_run_is_stopped(run_of):
    run = run_of(SLEEPER.format("<dependencies><port timeout='1000'>/never</port></dependencies>"))
    stop = threading.Event()
    stop.set()
    run.start(stop)
    assert run.modules[0].state is ModuleState.WAITING


def test_a_module_that_fails_at_once_ends_the_start_with_its_last_line(run_of):
    failing = "<module><name>sh</name><parameters>-c 'echo so; echo it is; exit 3'</parameters></module>"
    waiting = SLEEPER.format("<dependencies><port>/never</port></dependencies>")
    with pytest.raises(StartFailed, match=r"sh ended with status 3; it said last: it is \(see .*sh\.log\)"):
        run_of(failing + waiting).start(never())


def test_a_missing_program_is_an_error_before_anything_starts(run_of):
    with pytest.raises(ConfigError, match=r"file\.xml:1: <name>: no program 'no-such-program'"):
        run_of(SLEEPER.format("") + "<module><name>no-such-program</name></module>")


def test_a_module_of_another_computer_is_reported_and_left_out(run_of):
    run = run_of(SLEEPER.format("<node>icub-head</node>"))
    run.start(never())
    assert run.lines == ["sleep belongs on icub-head: yarpmanager starts it there, or you: sleep 1000"]
    assert run.modules[0].state is ModuleState.ELSEWHERE


def test_watching_ends_when_all_have_ended(run_of):
    run = run_of("<module><name>true</name></module>")
    run.start(never())
    run.watch(never())
    assert run.modules[0].state is ModuleState.ENDED
    assert run.failure == ""


def test_a_module_that_is_killed_is_a_failure_and_the_others_go_on(run_of):
    run = run_of(SLEEPER.format("") * 2)
    run.start(never())
    end = watched(run)
    os.kill(run.modules[0].process, signal.SIGKILL)
    wait_until(lambda: run.failure, "the end is noticed")
    end()
    assert run.failure.startswith("sleep ended by signal 9")
    assert [module.state for module in run.modules] == [ModuleState.FAILED, ModuleState.RUNNING]


def test_with_restart_a_module_that_is_killed_comes_back(run_of):
    run = run_of(SLEEPER.format(""), RunOptions(restarts=True))
    run.start(never())
    end = watched(run)
    first = run.modules[0].process
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: run.modules[0].restarts == 1 and run.modules[0].process, "it is started again")
    end()
    assert run.modules[0].process != first
    assert run.failure == ""


def test_a_module_that_does_not_end_is_killed_and_reported(run_of):
    deaf = "trap '' TERM; echo deaf; while :; do sleep 0.05; done"
    options = RunOptions(end_timeouts=EndTimeouts(after_terminate=0.2))
    run = run_of(f'<module><name>sh</name><parameters>-c "{deaf}"</parameters></module>', options)
    run.start(never())
    wait_until(lambda: run.modules[0].last_words() == "deaf", "it has begun")
    run.stop(never())
    assert run.failure == "sh had to be killed"
    assert run.modules[0].exit_status == -signal.SIGKILL


def test_a_module_that_crashes_while_it_is_ended_is_a_failure(run_of):
    crashing = "trap 'kill -SEGV $$' TERM; echo deaf; while :; do sleep 0.05; done"
    run = run_of(f'<module><name>sh</name><parameters>-c "{crashing}"</parameters></module>')
    run.start(never())
    wait_until(lambda: run.modules[0].last_words() == "deaf", "it has begun")
    run.stop(never())
    assert run.failure.startswith("sh crashed at its end by signal 11 (see ")
    assert run.lines[-1] == run.failure


def test_connections_are_made_and_reported(run_of, port):
    receiver = yarp.Port()
    receiver.open("/receiver")
    run = run_of(SLEEPER.format("") + "<connection><from>/there</from><to>/receiver</to></connection>")
    run.start(never())
    wait_until(lambda: run.connections()[0]["connected"], "they are connected")
    run.stop(never())
    receiver.close()
    assert run.connections()[0]["from"] == "/there"


def test_a_module_gets_prefix_variables_folder_and_arguments(run_of, tmp_path):
    script = tmp_path / "print.py"
    script.write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['A'], os.environ['YARP_PORT_PREFIX'], os.getcwd())\n"
    )
    run = run_of(
        f"<module><name>{script}</name><deployer>{sys.executable}</deployer><parameters>x 'y z'</parameters>"
        f"<workdir>{tmp_path}</workdir><prefix>/p</prefix><environment>A=1</environment></module>"
    )
    run.start(never())
    run.watch(never())
    assert run.modules[0].last_words() == f"['x', 'y z'] 1 /p {tmp_path}"
