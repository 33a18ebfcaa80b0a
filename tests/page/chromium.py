"""Drives headless Chromium by its own debugging protocol."""

import json
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

from websockets.sync.client import connect

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = ("--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--window-size=480,640")
_TIMEOUT = 30.0  # [s] of a loaded machine


@contextmanager
def chromium(folder: Path):
    """Yield what opens a tab at an address."""
    options = (*_OPTIONS, "--remote-debugging-port=0", f"--user-data-dir={folder}")
    process = subprocess.Popen([PROGRAM, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tabs = []

    def open_tab(link: str) -> Tab:
        request = Request(f"http://127.0.0.1:{port}/json/new?{quote(link, safe=':/')}", method="PUT")
        with urlopen(request) as answer:
            tabs.append(Tab(json.load(answer)["webSocketDebuggerUrl"]))
        return tabs[-1]

    try:
        port_file = folder / "DevToolsActivePort"
        wait_for(lambda: port_file.is_file() and port_file.read_text().count("\n"))
        port = int(port_file.read_text().split()[0])
        yield open_tab
    finally:
        process.kill()
        process.wait()


class Tab:
    """Is one page."""

    def __init__(self, address: str):
        self._socket = connect(address, max_size=None)
        self._number = 0

    def call(self, method: str, **parameters):
        """Call a method of the protocol; events are left out."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=_TIMEOUT))
            if answer.get("id") == self._number:
                return answer.get("result")

    def value(self, expression: str):
        """Return the value of an expression of the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_for(self, expression: str):
        return wait_for(lambda: self.value(expression))

    def key(self, code: str, kind: str):
        self.call("Input.dispatchKeyEvent", type=kind, code=code)

    def mouse(self, element: str, kind: str):
        """Press or release the mouse in the middle of an element."""
        self.call("Page.bringToFront")
        box = f"(({element}).scrollIntoView({{block: 'center'}}), ({element}).getBoundingClientRect())"
        x, y = self.value(f"(box => [box.x + box.width / 2, box.y + box.height / 2])({box})")
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def close(self):
        self.call("Page.close")


def wait_for(condition):
    """Return what a condition yields as soon as it is true."""
    end = time.monotonic() + _TIMEOUT
    while not (value := condition()):
        assert time.monotonic() < end, "it has not come"
        time.sleep(0.02)
    return value
