"""Five processes driven from the page in a browser; modules that are killed are seen."""

import os
import re
import signal
import time

import pytest

from gradiva.simulated_walk import RunningApplication, joined, private_network
from tests.page.chromium import PROGRAM, chromium

pytestmark = [pytest.mark.long, pytest.mark.skipif(PROGRAM is None, reason="no Chromium")]
LINK = re.compile(r"^panel +(http\S+)$", re.MULTILINE)
SEEN = 2.0  # [s]


def click(tab, command):
    tab.value(f"document.querySelector('[data-command={command}]').click(); 1")


def seconds_until(tab, condition):
    begin = time.monotonic()
    tab.wait_for(condition)
    return time.monotonic() - begin


@pytest.fixture
def application(tmp_path):
    with (
        private_network() as network,
        joined(network),
        RunningApplication("g1-simulation-three", network, tmp_path, "--view") as application,
    ):
        yield application


@pytest.fixture
def tab(application, tmp_path_factory):
    log = application.folder / "runner.log"
    application.wait_until(lambda: LINK.search(log.read_text()) is not None, "the link comes")
    with chromium(tmp_path_factory.mktemp("chromium")) as open_tab:
        tab = open_tab(LINK.search(log.read_text())[1])
        tab.wait_for("typeof status === 'object' && status.drives")
        tab.value("document.getElementById('view').src = 'about:blank'; 1")  # drawn slowly in software
        yield tab


def test_five_processes_are_driven_from_the_page_and_killed_ones_are_seen(application, tab):
    tab.wait_for("status.state === 'connected, not prepared'")
    click(tab, "prepareRobot")
    tab.wait_for("status.state === 'stands and balances'")
    click(tab, "startWalking")
    tab.wait_for("status.state === 'takes goals'")
    tab.key("KeyW", "keyDown")
    tab.wait_for("status.reason.includes('forward')")
    tab.key("KeyW", "keyUp")
    tab.wait_for("!status.reason.includes('forward')")
    assert tab.value("plots.rows.length") > 1, "simulated time is slow where all share a core"
    assert tab.value("status.health.filter(([, isWell]) => !isWell)") == []
    os.kill(application.process_of("gradiva-model-control"), signal.SIGKILL)
    gone = "status.health.some(([name, isWell]) => name === '/model-control' && !isWell)"
    assert seconds_until(tab, gone) < SEEN
    os.kill(application.process_of("gradiva-whole-body"), signal.SIGKILL)
    assert seconds_until(tab, "status.state === 'no answer of the coordinator'") < SEEN
