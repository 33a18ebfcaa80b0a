"""The page as a browser shows it, without a walk behind it: what it asks for, and what it shows."""

import json
import re
import threading
from http.client import HTTPConnection
from multiprocessing import Pipe
from time import sleep

import numpy as np
import pytest

from gradiva.page import NewestValue, PageAddress, picture_type
from gradiva.page.page_link import SignalRows
from gradiva.page.page_process import SIGNALS_SIZE, STATUS_SIZE, Channels, RobotPage
from gradiva.setup import load_setup
from tests.page.chromium import PROGRAM, chromium, wait_for

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium")
HANDS_OFF = {"drive": [0, 0, 0]}
GAIN = {"key": "dcm_controller.proportional_gain", "value": 1.1, "unit": "-", "low": 1.0, "high": 3.0}
STATUS = {
    **{"robot": "G1", "how": "position control", "number": 1, "state": "stands, ready", "reason": "started"},
    **{"notice": "", "time": 3.0, "pace": 1.0, "stepping": "off", "changed": {}, "gains": [GAIN]},
    **{
        "footprints": [],
        "nominal": [],
        "is_simulated": True,
        "run": "",
        "menu": {"plant": {"value": "ideal", "values": ["ideal", "robot"]}},
    },
    "diagnosis": {"cause": "it was pushed", "first_sign": "DCM error at 4 s", "advice": "push less"},
}


class Walk:
    """Takes the place of the walk: what comes from the page is collected."""

    def __init__(self):
        robot = load_setup("g1").simulated_robot
        self.picture = NewestValue(picture_type(len(robot.joints)).itemsize)
        self.signals, self.status = NewestValue(SIGNALS_SIZE), NewestValue(STATUS_SIZE)
        self.inbox, outbox = Pipe(duplex=False)
        self.page = RobotPage(
            robot, PageAddress(0), Channels(self.picture.name, self.signals.name, self.status.name, outbox)
        )
        self.status.write(json.dumps(STATUS).encode())
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._update)
        self._thread.start()

    def _update(self):
        while not self._is_over.wait(0.02):
            self.page.update()

    def next(self, name):
        """Return the next message of a name."""
        while True:
            assert self.inbox.poll(30.0), f"no {name}"
            message = json.loads(self.inbox.recv_bytes())
            if name in message:
                return message

    def hands_off(self):
        """Wait until the page drives no more."""
        wait_for(lambda: self.next("drive") == HANDS_OFF)
        while self.inbox.poll(0.25):
            assert json.loads(self.inbox.recv_bytes()) == HANDS_OFF, "nothing is held"

    def close(self):
        self._is_over.set()
        self._thread.join()
        self.page.close()
        self.picture.close()
        self.signals.close()
        self.status.close()


@pytest.fixture(scope="module")
def walk():
    walk = Walk()
    yield walk
    walk.close()


@pytest.fixture(scope="module")
def open_tab(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as open_tab:
        yield open_tab


@pytest.fixture(scope="module")
def tab(walk, open_tab):
    tab = open_tab(walk.page.link)
    tab.wait_for("typeof status === 'object' && status.drives")
    return tab


def test_the_page_shows_state_and_why_it_fell(walk, tab):
    assert tab.value("location.search") == "", "the token is a cookie now"
    assert tab.value("document.querySelector('.words').innerText").startswith("Stands, ready: started")
    assert tab.value("[...document.querySelectorAll('#fall p')].map(p => p.innerText)") == [
        "it was pushed",
        "DCM error at 4 s",
        "push less",
    ]


@pytest.mark.long  # without graphics hardware
def test_the_robot_is_shown_and_a_click_on_the_floor_is_a_goal(walk, tab):
    wait_for(lambda: walk.page.viewers)
    view = "document.getElementById('view')"
    assert tab.value(f"{view}.contentDocument.querySelectorAll('canvas').length") >= 1

    def click():
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            tab.mouse(view, kind)
        return walk.inbox.poll(1.0)

    wait_for(click)  # viser listens to the mouse some time after it is there
    x, y, heading = walk.next("goal")["goal"]
    assert abs(x) < 2.0
    assert abs(y) < 2.0
    assert heading is None


@pytest.mark.long  # without graphics hardware
def test_a_link_that_is_dragged_is_pushed_when_it_is_let_go(walk, tab):
    robot = load_setup("g1").simulated_robot
    picture = np.zeros((), picture_type(len(robot.joints)))
    picture["rotation"], picture["base"] = np.eye(3), (0.0, 0.0, 0.75 * robot.com_height)
    walk.picture.write(picture.tobytes())
    wait_for(lambda: walk.page.viewers)
    view = "document.getElementById('view')"

    def drag():
        x, y = tab.value(f"(box => [box.x + box.width / 2, box.y + box.height / 2])({view}.getBoundingClientRect())")
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        tab.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for way in range(10, 70, 10):
            tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + way, y=y, button="left")
            sleep(0.1)
        shown = tab.value("document.getElementById('pull').innerText")
        tab.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 60, y=y, button="left", clickCount=1)
        return shown if walk.inbox.poll(1.0) else ""

    shown = wait_for(drag)
    push = walk.next("push")["push"]
    assert push["link"] in walk.page._links
    assert re.fullmatch(r"Push \w+: [\d.]+ N for 0.1 s, [\d.]+ N·s", shown)
    assert np.linalg.norm(push["vector"]) > 1.0


@pytest.fixture(scope="module")
def shell(tab):
    """Return the page without the picture, which takes a while to draw without graphics hardware."""
    tab.value("document.getElementById('view').src = 'about:blank'; 1")
    return tab


@pytest.mark.parametrize(
    ("code", "expected"), [("KeyW", [0.6, 0, 0]), ("ArrowRight", [0, -0.6, 0]), ("KeyA", [0, 0, 0.6])]
)
def test_a_key_drives_and_letting_go_is_zero(walk, shell, code, expected):
    shell.key(code, "keyDown")
    for _ in range(3):
        assert walk.next("drive") == {"drive": expected}
    shell.key(code, "keyUp")
    walk.hands_off()


def test_a_button_drives_as_long_as_it_is_held(walk, shell):
    button = "document.querySelector('[data-drive=turn]')"
    shell.mouse(button, "mousePressed")
    assert walk.next("drive") == {"drive": [0, 0.6, 0]}
    shell.mouse(button, "mouseReleased")
    walk.hands_off()


def test_a_stick_drives(walk, shell):
    shell.value("navigator.getGamepads = () => [{connected: true, axes: [0, -0.5, 0, 0], buttons: []}]; 1")
    assert walk.next("drive") == {"drive": [pytest.approx(0.3), 0, 0]}
    shell.value("navigator.getGamepads = () => []; 1")
    walk.hands_off()


@pytest.mark.parametrize(
    "event", ["document.dispatchEvent(new Event('visibilitychange'))", "dispatchEvent(new Event('pagehide'))"]
)
def test_a_page_that_is_hidden_lets_go(walk, shell, event):
    shell.key("KeyS", "keyDown")
    assert walk.next("drive") == {"drive": [-0.6, 0, 0]}
    shell.value(f"{event}; 1")
    walk.hands_off()
    shell.key("KeyS", "keyUp")


def test_stop_buttons_sliders_and_forms_ask(walk, shell):
    for button, name in (("stop", "stop"), ("freeze", "command"), ("pause", "pace"), ("reset", "reset")):
        shell.value(f"document.getElementById('{button}').click(); 1")
        assert name in walk.next(name)
    shell.key("Space", "keyDown")
    assert walk.next("stop") == {"stop": True}
    shell.value("s = document.querySelector('#gains input'); s.value = 1.5; s.dispatchEvent(new Event('change')); 1")
    assert walk.next("tune") == {"tune": {"key": GAIN["key"], "value": 1.5}}
    shell.value("document.querySelector('#push button').click(); 1")
    assert walk.next("push") == {"push": {"link": "torso", "force": 40, "duration": 0.1, "direction": 0}}
    shell.value("document.querySelector('#goal button').click(); 1")
    assert walk.next("goal") == {"goal": [1, 0, None]}


def test_a_link_in_the_hand_shows_its_push_and_pushes_when_it_is_let_go(walk, shell):
    shell.value("showPull({link: 'chest', force: [30, 40], is_over: false}); 1")
    assert shell.value("document.getElementById('pull').innerText") == "Push chest: 50.0 N for 0.1 s, 5.00 N·s"
    assert not walk.inbox.poll(0.1), "nothing is asked for before"
    shell.value("showPull({link: 'chest', force: [30, 40], is_over: true}); 1")
    assert walk.next("push") == {"push": {"link": "chest", "vector": [30, 40], "duration": 0.1}}
    assert shell.value("document.getElementById('pull').hidden") is True


def test_chosen_signals_are_plotted_frozen_and_scrolled_back(walk, shell):
    columns, packed = ("zmp::measured::x", "zmp::measured::y", "own::thing"), SignalRows()

    def publish(time):
        walk.signals.write(packed.pack(columns, np.array([time, time, -time, 5.0])))

    publish(1.0)
    shell.wait_for("plots.columns.length === 3")
    choose = "i = document.getElementById('signal'); i.value = '{}'; i.dispatchEvent(new Event('change')); 1"
    shell.value(choose.format("zmp::measured::*"))
    shell.value(choose.format("no such signal"))
    shell.wait_for("plots.rows.length === 1 && plots.rows[0].length === 3")
    for time in (1.1, 1.2, 1.21, 1.3):
        publish(time)
        wait_for(lambda time=time: walk.page._history.last_time == time)
    shell.wait_for("plots.rows.length === 4")
    assert shell.value("plots.rows.map(row => row[2])") == [-1.0, -1.1, -1.2, -1.3], "one point was too early"
    assert shell.value("document.querySelector('figcaption span').innerText").split() == ["x", "1.3", "y", "-1.3"]
    shell.value("document.getElementById('hold').click(); 1")
    publish(20.0)
    shell.wait_for("plots.rows.length === 5")
    assert shell.value("plots.frozen.length") == 4
    assert shell.value("document.getElementById('back').disabled") is False
    shell.value("document.querySelector('figcaption button').click(); 1")
    shell.wait_for("document.querySelectorAll('#charts figure').length === 0")


def test_another_walk_is_chosen_and_the_past_is_replayed(walk, shell):
    shell.value("document.querySelector('#choose select').value = 'robot'; 1")
    shell.value("document.querySelector('#choose button').click(); 1")
    assert walk.next("choose") == {"choose": {"plant": "robot"}}
    picture = np.zeros((), picture_type(len(load_setup("g1").simulated_robot.joints)))
    picture["rotation"] = np.eye(3)
    walk.picture.write(picture.tobytes())
    wait_for(lambda: walk.page._shown._kept)
    shell.value("document.getElementById('replay').click(); 1")
    shell.wait_for("status.replays")
    shell.value("document.getElementById('replay').click(); 1")
    shell.wait_for("!status.replays")


def test_over_ports_there_are_commands_and_health_in_the_place_of_pushes(walk, shell):
    health = [["/planner", True, "runs"], ["/whole-body", False, "does not answer"]]
    ports = {"is_simulated": False, "health": health, "log": [["12:00:00", "startWalking", "refused: prepare first"]]}
    walk.status.write(json.dumps(STATUS | ports | {"diagnosis": {}}).encode())
    shell.wait_for("status.is_simulated === false")
    assert shell.value("[...document.querySelectorAll('#health .ill td')].map(cell => cell.innerText)") == [
        "/whole-body",
        "does not answer",
    ]
    assert shell.value("document.getElementById('log').innerText").split("\n")[-1] == "refused: prepare first"
    assert shell.value("document.getElementById('push').offsetParent === null") is True
    shell.value("document.querySelector('[data-command^=prepareRobot]').click(); 1")
    assert walk.next("command") == {"command": ["prepareRobot"]}
    shell.value("document.querySelector('#velocity button').click(); 1")
    assert walk.next("command") == {"command": ["setGoal", ["velocity", 0.1, 0, 0]]}
    shell.value("document.querySelector('[data-command=dump]').click(); 1")
    assert walk.next("command") == {"command": ["dump"]}
    prepare_anyway(walk, shell, ports)
    walk.status.write(json.dumps(STATUS).encode())
    shell.wait_for("status.is_simulated")
    assert shell.value("document.getElementById('push').offsetParent !== null") is True


def prepare_anyway(walk, shell, ports):
    assert shell.value("document.getElementById('anyway').hidden") is True
    refusal = "prepareRobot onTheFly: refused: cannot prepare: l_knee: stuck; exercise again, or prepareRobot anyway"
    walk.status.write(json.dumps(STATUS | ports | {"diagnosis": {}, "notice": refusal}).encode())
    shell.wait_for("!document.getElementById('anyway').hidden")
    shell.value("document.getElementById('anyway').click(); 1")
    assert walk.next("command") == {"command": ["prepareRobot", "onTheFly", "anyway"]}


def test_a_second_page_watches_until_it_takes_control_and_its_end_stops_the_robot(walk, shell, open_tab):
    second = open_tab(walk.page.link)
    second.wait_for("typeof status === 'object' && status.drives === false")
    second.key("KeyW", "keyDown")
    assert second.value("document.querySelector('[data-drive]').disabled") is True
    second.value("document.getElementById('take').click(); 1")
    second.wait_for("status.drives")
    assert walk.next("drive") == HANDS_OFF, "of the first one; the second one was not heard"
    assert walk.next("drive") == {"drive": [0.6, 0, 0]}
    second.close()
    walk.hands_off()


def test_a_page_from_elsewhere_is_refused(walk, shell):
    connection = HTTPConnection("127.0.0.1", int(walk.page.link.split(":")[2].split("/")[0]))
    for headers in ({}, {"Host": "elsewhere.example"}):
        connection.request("GET", "/", headers=headers)
        answer = connection.getresponse()
        assert (answer.status, answer.read()[:4]) == (403, b"403:")
        connection.close()
