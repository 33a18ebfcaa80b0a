import os
import subprocess
import sys
from types import SimpleNamespace

from pureyarp.network.port_core import OpenPorts

FORGETFUL = """
from pureyarp.network.network import Network
from pureyarp.network.ports import Port
Network.init()
port = Port()
assert port.open("/forgotten")
print(port.where().getPort())
"""


def test_a_port_that_was_closed_while_it_opened_does_not_hold_up_the_end():
    ports = OpenPorts()
    closed = []
    ports.add(SimpleNamespace(close=lambda: closed.append(1)))
    ports.close_all()
    assert closed == [1]


def test_a_program_that_forgets_its_ports_leaves_none_registered(name_server, name_client, tmp_path):
    (tmp_path / "yarp.conf").write_text(f"127.0.0.1 {name_server.settings.name_server_port} yarp")
    environment = {**os.environ, "YARP_CONFIG_HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", FORGETFUL], env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) > 0
    assert not name_client.query("/forgotten").isValid()
