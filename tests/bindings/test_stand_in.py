"""The stand-in for YARP's bindings answers as those were recorded to answer, and ends where they hang or crash."""

from __future__ import annotations

import json

import pytest

from tests.bindings.conftest import IS_STAND_IN, Bindings

pytestmark = pytest.mark.skipif(not IS_STAND_IN, reason="the real bindings do hang and crash")

ANSWERS = {
    "constants_of_control_loops": ("hasattr(yarp, 'VOCAB_PIDTYPE_POSITION')", False),
    "rpc_ports_have_no_timeout": ("[hasattr(yarp.RpcClient, n) for n in ('setTimeout', 'isOpen')]", [False, False]),
    "contacts_have_no_text": ("hasattr(yarp.Contact, 'toString')", False),
    "living_name": ("yarp.Port().open('/out')", False),
    "tcp_is_meant": ("yarp.Network.isConnected('/out', '/in')", False),
    "carrier_is_passed": ("yarp.Network.isConnected('/out', '/in', 'fast_tcp', True)", True),
    "any_carrier_is_disconnected": ("yarp.Network.disconnect('/out', '/in')", True),
    "late_reply": (
        "[yarp.Network.write(yarp.Network.queryName('/mute'), b, r, False, True, 0.1), r.size()]",
        [True, 0],
    ),
    "list_of_numbers": ("tri(lambda: yarp.Stamp(1, [2.0]))", "TypeError"),
    "integer_for_bool": ("tri(lambda: yarp.Network.connect('/out', '/in', 'tcp', 1))", "TypeError"),
    "keywords": ("tri(lambda: yarp.Network.exists('/out', quiet=True))", "TypeError"),
    "length_of_a_vector": ("tri(lambda: len(yarp.Vector(3)))", "TypeError"),
    "containers": (
        "[list(yarp.DVector([1.0, 2.5])), len(yarp.PidVector(2)), yarp.BVector(1)[0]]",
        [[1.0, 2.5], 2, False],
    ),
    "parts_are_read_while_their_owner_lives": ("b.get(1).asList().get(0).asFloat64()", 2.5),
}
ENDS = {
    "read(True) of /in holds the interpreter": "into.read(True)",
    "writeToNameServer never returns": "yarp.Network.writeToNameServer(bot_list, r, yarp.ContactStyle())",
    "/zz is waited for": "yarp.Network.waitPort('/zz')",
    "whose owner is gone": "yarp.Bottle('1 2').get(0).asInt32()",
    "useNetworkClock in the process of /out": "yarp.useNetworkClock('/out')",
    "ValueError('x') left a method that YARP called": "other.setReader(failing); other.open('/other'); ask('/other')",
    "close of /in holds the interpreter": "into.close()",
    "has no reply: who asked hangs": "module.attach(other); other.open('/module'); ask('/module')",
}
PROGRAM = """
import json, os, sys, threading, time
from pathlib import Path
from gradiva.middleware import yarp
from pureyarp.network.settings import use_settings
from pureyarp.network.name_server import NameServer
from pureyarp.network.settings import NetworkSettings

class Mute(yarp.PortReader):
    def read(self, reader):
        time.sleep(0.5)
        return True

class Failing(yarp.PortReader):
    def read(self, reader):
        raise ValueError("x")

class Silent(yarp.RFModule):
    def respond(self, command, reply):
        return True

def tri(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__

def ask(port):
    yarp.Network.write(yarp.Network.queryName(port), b, r, False, True, 5.0)

server = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
server.start()
use_settings(server.settings)
yarp.Network.init()
b, r, bot_list = yarp.Bottle("hello (2.5)"), yarp.Bottle(), yarp.Bottle("bot list")
out, into, muted, other = yarp.Port(), yarp.BufferedPortBottle(), yarp.Port(), yarp.Port()
mute, failing, module = Mute(), Failing(), Silent()
muted.setReader(mute)
assert out.open("/out") and into.open("/in") and muted.open("/mute")
assert yarp.Network.connect("/out", "/in", "fast_tcp", True)
answers = {name: eval(question) for name, question in json.loads(sys.argv[1]).items()}
print(json.dumps(answers), flush=True)
ends = {}
for reason, statement in json.loads(sys.argv[2]).items():
    Path("journal").write_text("")
    child = os.fork()
    if child == 0:
        threading.Timer(20.0, os._exit, [0]).start()
        exec(statement)
        os._exit(0)
    ends[reason] = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), Path("journal").read_text()]
print(json.dumps(ends), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    bindings = Bindings(tmp_path_factory.mktemp("stand_in"))
    questions = {name: question for name, (question, _) in ANSWERS.items()}
    done = bindings.run("-c", PROGRAM, json.dumps(questions), json.dumps(ENDS))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_answers_as_recorded(answered):
    assert answered[0] == {name: answer for name, (_, answer) in ANSWERS.items()}


def test_it_ends_where_the_real_bindings_hang_or_crash_and_says_at_which_line(answered):
    assert {reason: status for reason, (status, _) in answered[1].items()} == dict.fromkeys(ENDS, 134)
    assert [reason for reason, (_, text) in answered[1].items() if reason not in text] == []
    assert answered[1]["/zz is waited for"][1].endswith("at <string>:1\n")
