"""Streams: read, write, rates."""

import re
import signal
import subprocess
import threading

import pytest

from gradiva.cli.yarp.streams import StreamRate
from gradiva.middleware import yarp
from tests.waiting import wait_until


@pytest.fixture
def talker(name_server):
    """A port /talker that says a numbered line every few milliseconds."""
    port, ended = yarp.BufferedPortBottle(), threading.Event()
    assert port.open("/talker")
    thread = threading.Thread(target=talk, args=(port, ended))
    thread.start()
    yield port
    ended.set()
    thread.join()
    port.close()


def talk(port, ended):
    stamp, number = yarp.Stamp(), 0
    while not ended.wait(0.005):
        stamp.update()
        port.setEnvelope(stamp)
        message = port.prepare()
        message.clear()
        message.addString("line")
        message.addInt32(number)
        port.writeStrict()
        number += 1


@pytest.mark.parametrize("carrier", ["", "tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_messages_of_a_source_are_printed_one_a_line(talker, gradiva, names, carrier):
    options = ["--carrier", carrier] if carrier else []
    status, out, err = gradiva("yarp", "read", "/r", "/talker", "--count", 5, *options)
    numbers = [int(line.removeprefix("line ")) for line in out.splitlines()]
    assert status == 0
    assert len(numbers) == 5
    if carrier != "udp":  # which may lose some
        assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert err.splitlines() == ["reading at /r", "connected from /talker"]
    assert "/r" not in names()


def test_envelopes_come_before_the_messages(talker, gradiva):
    _, out, _ = gradiva("yarp", "read", "...", "/talker", "--count", 2, "--envelope")
    for line in out.splitlines():
        assert re.fullmatch(r"\(\d+ \d+\.\d+\) line \d+", line)


def test_the_rate_is_printed_every_second(talker, gradiva):
    status, out, _ = gradiva("yarp", "read", "/r", "/talker", "--count", 2, "--rate")
    reports = [re.fullmatch(r"rate_hz (\d+\.\d) mean_ms \S+ max_ms \S+ lost [0-]", line) for line in out.splitlines()]
    assert (status, len(reports)) == (0, 2)
    assert float(reports[1][1]) > 0.0


def test_a_source_that_is_not_there_is_waited_for_and_comes_back(name_server, start, names):
    reader = start("yarp", "read", "/r", "/late")
    assert [reader.process.stderr.readline() for _ in range(2)] == ["reading at /r\n", "waiting for /late\n"]
    for number in range(2):
        source = yarp.Port()
        assert source.open("/late")
        wait_until(lambda source=source: source.getOutputCount() == 1, "not connected")
        assert source.write(yarp.Bottle(f"message {number}"))
        assert reader.process.stdout.readline() == f"message {number}\n"
        source.close()
    assert "/r" in names()
    assert reader.stop()[0] == 0
    assert "/r" not in names()


@pytest.mark.parametrize(("options", "status"), [([], 0), (["--count", "9"], 130)])
@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_port_registered(name_server, start, names, options, status, with_signal):
    reader = start("yarp", "read", "/r", *options)
    assert reader.process.stderr.readline() == "reading at /r\n"
    assert "/r" in names()
    assert reader.stop(with_signal)[0] == status
    assert "/r" not in names()


def test_a_reader_that_goes_away_ends_it_in_silence(talker, start, names):
    tool = start("yarp", "read", "/r", "/talker")
    tool.process.stdout.readline()
    tool.process.stdout.close()
    tool.process.stdout = None
    assert tool.end()[0] == 1
    assert "Traceback" not in (tool.end()[2] or "")
    assert "/r" not in names()


def test_a_port_that_is_open_elsewhere_is_not_taken(talker, gradiva):
    for command in ("read", "write"):
        status, out, err = gradiva("yarp", command, "/talker")
        assert (status, out) == (1, "")
        assert err == "error: port /talker is already open in another process\n"


@pytest.fixture
def listener(name_server):
    port = yarp.BufferedPortBottle()
    port.setStrict(True)
    assert port.open("/listener")
    yield port
    port.close()


@pytest.mark.parametrize("carrier", ["", "fast_tcp", "text_ack"])
def test_a_message_is_written_once(listener, gradiva, names, carrier):
    options = ["--carrier", carrier] if carrier else []
    assert gradiva("yarp", "write", *options, "/w", "/listener", "set", "(1.5 -2)", "-7")[:2] == (0, "")
    assert listener.read().toString() == "set (1.5 -2) -7"
    assert "/w" not in names()


def test_lines_of_standard_input_are_messages(listener, start):
    tool = start("yarp", "write", "...", "/listener", stdin=subprocess.PIPE)
    status, out, err = tool.end('1 2\n"two words"\n(open\n-3\n')
    assert [listener.read().toString() for _ in range(3)] == ["1 2", '"two words"', "-3"]
    assert (status, out, err) == (1, "", "error: (open: a quote or parenthesis is not closed\n")


def test_lost_lines_are_reported_once_and_counted(name_server, start, listener):
    tool = start("yarp", "write", "/w", stdin=subprocess.PIPE)
    assert tool.process.stderr.readline() == "waiting for a reader of /w\n"
    assert yarp.Network.connect("/w", "/listener")
    tool.process.stdin.write("first\n")
    tool.process.stdin.flush()
    assert listener.read().toString() == "first"
    assert yarp.Network.disconnect("/w", "/listener")
    status, out, err = tool.end("1\n2\n3\n")
    assert (status, out, err) == (1, "", "/w has no reader: lines are lost\n3 lines were lost\n")


def test_a_message_waits_for_a_reader(name_server, start, listener):
    tool = start("yarp", "write", "/w", "hello")
    assert tool.process.stderr.readline() == "waiting for a reader of /w\n"
    assert yarp.Network.connect("/w", "/listener")
    assert tool.end()[0] == 0
    assert listener.read().toString() == "hello"


def test_a_destination_that_is_not_there_is_named(name_server, gradiva, names):
    status, out, err = gradiva("yarp", "write", "/w", "/nobody", "1")
    assert (status, out) == (1, "")
    assert err.startswith("error: port /nobody is not registered")
    assert "/w" not in names()


@pytest.mark.parametrize(
    "arguments",
    [
        ["read", "r"],
        ["read", "/r", "source"],
        ["read", "/r", "--count", "0"],
        ["read", "/r", "/s", "extra"],
        ["write"],
        ["write", "w", "1"],
        ["write", "/w", "(1"],
        ["reed"],
    ],
)
def test_wrong_input_is_refused_in_one_line(name_server, gradiva, arguments):
    status, out, err = gradiva("yarp", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_a_regular_stream_has_its_rate_and_intervals():
    rate = StreamRate(10.0)
    for index in range(5):
        rate.add(10.1 + 0.2 * index, index)
    assert rate.report(11.0) == "rate_hz 5.0 mean_ms 200.00 max_ms 200.00 lost 0"


def test_the_longest_interval_and_the_gaps_of_the_counter_are_reported():
    rate = StreamRate(0.0)
    for now, number in ((0.1, 7), (0.2, 8), (0.7, 12), (0.8, 13)):
        rate.add(now, number)
    assert rate.report(1.0) == "rate_hz 4.0 mean_ms 233.33 max_ms 500.00 lost 3"


def test_an_interval_that_spans_two_reports_belongs_to_the_second():
    rate = StreamRate(0.0)
    rate.add(0.9, 1)
    assert rate.report(1.0) == "rate_hz 1.0 mean_ms nan max_ms nan lost 0"
    rate.add(1.4, 2)
    assert rate.report(2.0) == "rate_hz 1.0 mean_ms 500.00 max_ms 500.00 lost 0"


def test_losses_are_counted_anew_for_every_report():
    rate = StreamRate(0.0)
    rate.add(0.1, 1)
    rate.add(0.2, 3)
    assert rate.report(1.0).endswith("lost 1")
    rate.add(1.1, 4)
    assert rate.report(2.0).endswith("lost 0")


def test_a_counter_that_stands_still_or_starts_anew_lost_nothing():
    rate = StreamRate(0.0)
    for number in (5, 5, 0, 1):
        rate.add(0.1, number)
    assert rate.report(1.0).endswith("lost 0")


def test_without_envelopes_nothing_is_known_of_losses():
    rate = StreamRate(0.0)
    rate.add(0.5, None)
    assert rate.report(1.0).endswith("lost -")


def test_silence_is_a_rate_of_zero():
    assert StreamRate(0.0).report(1.0) == "rate_hz 0.0 mean_ms nan max_ms nan lost -"
