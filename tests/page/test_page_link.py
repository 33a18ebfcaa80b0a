import os
import signal
import subprocess
import sys
import threading

import pytest

from gradiva.page import NewestValue


@pytest.fixture
def channel():
    writer = NewestValue(64)
    reader = NewestValue(64, writer.name)
    yield writer, reader
    reader.close()
    writer.close()


def test_a_reader_gets_the_newest_value_once(channel):
    writer, reader = channel
    assert reader.read() is None
    for value in (b"old", b"newer", b"new"):
        writer.write(value)
    assert reader.read() == b"new"
    assert reader.read() is None


def test_a_value_that_is_too_long_is_refused_and_the_last_one_stays(channel):
    writer, reader = channel
    writer.write(b"last")
    with pytest.raises(ValueError, match="65 bytes, at most 64"):
        writer.write(bytes(65))
    assert reader.read() == b"last"


def test_no_value_is_read_that_is_half_written(channel):
    writer, reader = channel
    is_done = threading.Event()

    def write():
        for number in range(20000):
            writer.write(bytes([number % 256]) * (1 + number % 64))
        is_done.set()

    thread = threading.Thread(target=write)
    thread.start()
    read = 0
    while not is_done.is_set():
        if (value := reader.read()) is not None:
            read += 1
            assert set(value) == {value[0]}
            assert (len(value) - 1 - value[0]) % 64 == 0
    thread.join()
    assert read or reader.read() is not None  # each write may be interrupted in its middle


def test_play_prints_its_link_and_ends_by_an_interrupt_without_a_trace(tmp_path):
    command = [sys.executable, "-m", "gradiva.cli", "play", "--robot", "g1", "--port", "0", "--out", str(tmp_path)]
    before = set(os.listdir("/dev/shm"))
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    line = next(line for line in process.stdout if line.startswith("play"))
    assert line.split()[1].startswith("http://127.0.0.1:")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the walk and to its page
    _, errors = process.communicate(timeout=60.0)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "leaked" not in errors
    assert {name for name in os.listdir("/dev/shm") if name.startswith("psm_")} <= before
