from rich.console import Console

from gradiva.cli.applications.monitor import OutputFollower, module_table

MODULE = {
    "name": "gradiva-walking",
    "state": "running",
    "waits_for": "",
    "node": "localhost",
    "rank": 3,
    "process": 17,
    "uptime_s": 12.3,
    "restarts": 0,
    "exit_status": None,
    "log": "walking.log",
    "health": {"ticks": 1200, "tick_p99_us": 512.0, "deadline_misses": 3, "state": "walking"},
}
STATUS = {
    "application": "icub",
    "outcome": "running",
    "reason": "",
    "folder": "runs/1",
    "modules": [MODULE],
    "connections": [{"from": "/joypad/goal:o", "to": "/w/goal:i", "carrier": "tcp", "connected": False}],
}


def text_of(**changes):
    console = Console(width=160, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(module_table({**STATUS, "modules": [{**MODULE, **changes}]}))
    return " ".join(capture.get().replace("│", " ").split())


def test_a_running_module_shows_process_time_and_health():
    text = text_of()
    assert "gradiva-walking running 17 12 s 1200 512 µs 3 walking" in text
    assert "0 of 1 connections; not yet /joypad/goal:o · runs/1 · Ctrl-C stops" in text


def test_an_application_in_one_process_has_no_connections_to_count():
    console = Console(width=160, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(module_table({**STATUS, "connections": []}))
    assert "connections" not in capture.get()
    assert "runs/1 · Ctrl-C stops" in capture.get()


def test_a_waiting_module_shows_its_port():
    text = text_of(state="waiting", waits_for="/icub/torso/stateExt:o", process=None, health={})
    assert "gradiva-walking waits for /icub/torso/stateExt:o" in text


def test_a_failed_module_shows_its_exit_status():
    assert "gradiva-walking failed (-9)" in text_of(state="failed", exit_status=-9, process=None, health={})


def test_lines_of_modules_come_once_and_whole(tmp_path):
    path = tmp_path / "a.log"
    follower = OutputFollower({"a": path, "b": tmp_path / "none.log"})
    assert list(follower.new_lines()) == []
    path.write_text("one\ntw")
    assert list(follower.new_lines()) == [("a", "one")]
    path.write_text("one\ntwo\nthree\n")
    assert list(follower.new_lines()) == [("a", "two"), ("a", "three")]
    assert list(follower.new_lines()) == []
