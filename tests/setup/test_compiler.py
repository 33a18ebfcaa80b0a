"""Compiled functions are kept, announced and leave nothing behind when interrupted."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import casadi as cs
import pytest

from gradiva.setup import GccCompiler, cache_folder
from gradiva.setup.compiler import run_tidily, tidy_when_terminated, typed_path
from tests.waiting import wait_until

COMPILER = """#!/bin/sh
echo $$ > "{folder}/begun.part" && mv "{folder}/begun.part" "{folder}/begun"
exec sleep 600
"""
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background of a shell
import casadi as cs
from pathlib import Path
from gradiva.setup import GccCompiler
x = cs.SX.sym("x")
GccCompiler(Path(sys.argv[1]))(cs.Function("square", [x], [x * x]))
"""


@pytest.fixture
def square():
    x = cs.SX.sym("x")
    return cs.Function("square", [x], [x * x])


def test_a_function_is_compiled_once_and_found_again(tmp_path, square):
    said = []
    for _ in range(2):
        compiled = GccCompiler(tmp_path, said.append)(square)
        assert float(compiled(3.0)) == 9.0
    assert said == [f"compiling square (once on this machine, about 1 s; kept in {tmp_path})"]
    assert str(typed_path(Path.home() / ".cache" / "gradiva")) == "~/.cache/gradiva"
    assert len(list(tmp_path.glob("square-*.so"))) == 1


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_code_is_fetched_ahead_where_the_processor_has_such_an_instruction(tmp_path, monkeypatch, machine):
    source = tmp_path / "seen.c"
    stand_in(tmp_path, monkeypatch, f'cp "$source" {source}')
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert is_compiled(tmp_path / "kept")
    assert (source.read_text().count("prefetcht1") > 0) == (machine == "x86_64")


def test_an_assembler_that_refuses_to_fetch_ahead_compiles_without(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, 'if grep -q prefetcht1 "$source"; then echo no such instruction >&2; exit 1; fi')
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert is_compiled(tmp_path / "kept")


def stand_in(folder, monkeypatch, line):
    """Let a compiler be used that runs a line of shell first, in which ``$source`` is the C file, and then is gcc."""
    compiler = folder / "cc"
    compiler.write_text(
        f'#!/bin/sh\nfor each in "$@"; do case "$each" in *.c) source=$each ;; esac; done\n{line}\nexec gcc "$@"\n'
    )
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(compiler))


def is_compiled(folder):
    """Return whether a function of many statements becomes a library that computes it."""
    x, compiler = cs.SX.sym("x", 20), GccCompiler(folder, lambda line: None)
    compiled = compiler(cs.Function("squares", [x], [x * x]))
    assert compiled([3.0] * 20).full().ravel().tolist() == [9.0] * 20
    return compiler.failure is None


@pytest.mark.parametrize(("home", "typed"), [("/nowhere", "~/cache"), ("~", "/nowhere/cache")])
def test_a_folder_is_typed_from_the_home_folder_where_there_is_one(monkeypatch, home, typed):
    monkeypatch.setattr("os.path.expanduser", lambda path: home)  # "~": neither HOME nor an entry of the user
    assert str(typed_path(Path("/nowhere/cache"))) == typed
    assert typed_path(Path("~/cache")) == Path("~/cache")


def test_an_account_without_a_home_has_a_cache_in_which_nothing_is_kept(monkeypatch, square):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    said = []
    assert float(GccCompiler(cache_folder(), said.append)(square)(3.0)) == 9.0
    assert any("Not a directory" in line for line in said), said


def test_a_simplified_function_is_found_again_by_the_function_that_it_was_made_of(tmp_path, square):
    x, made = cs.SX.sym("x"), []

    def simplify():
        made.append(cs.Function("square", [x], [x**2]))
        return made[-1]

    for _ in range(2):
        assert float(GccCompiler(tmp_path).simplified(square, simplify)(3.0)) == 9.0
    assert len(made) == 1
    other = cs.Function("square", [x], [x * x + 1.0])
    assert float(GccCompiler(tmp_path).simplified(other, lambda: other)(3.0)) == 10.0
    assert len(list(tmp_path.glob("square-*.so"))) == 2


def test_without_a_compiler_nothing_is_simplified(tmp_path, square, monkeypatch):
    monkeypatch.setenv("CC", "")
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert GccCompiler(tmp_path, lambda line: None).simplified(square, pytest.fail) is square


def test_other_expressions_make_another_library(tmp_path, square):
    x = cs.SX.sym("x")
    compiler = GccCompiler(tmp_path)
    compiler(square)
    assert float(compiler(cs.Function("square", [x], [x * x + 1.0]))(3.0)) == 10.0
    assert len(list(tmp_path.glob("square-*.so"))) == 2


@pytest.mark.parametrize("compiler", ["/nowhere/gcc", "false"])
def test_without_a_working_compiler_the_function_is_as_it_was(tmp_path, square, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    said = []
    gcc = GccCompiler(tmp_path, said.append)
    assert gcc(square) is square
    assert gcc(square) is square
    assert gcc.failure
    assert sum("is not compiled, the controller is slower but works" in line for line in said) == 1
    assert not list(tmp_path.glob("*.so"))


@pytest.fixture
def slow_compiler(tmp_path, monkeypatch):
    """A compiler that says that it has begun, and who it is, and does not end by itself."""
    path = tmp_path / "slow-cc"
    path.write_text(COMPILER.format(folder=tmp_path))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(path))
    return tmp_path / "begun"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)])
def test_a_compilation_that_is_interrupted_leaves_no_folder_and_no_process(tmp_path, slow_compiler, number, status):
    cache = tmp_path / "cache"
    program = [sys.executable, "-c", PROGRAM, str(cache)]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as process:
        wait_until(slow_compiler.exists)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert errors.startswith(f"compiling square (once on this machine, about 1 s; kept in {cache})\n")
    assert list(cache.iterdir()) == []
    wait_until(lambda: is_gone(int(slow_compiler.read_text())), "the compiler's processes end")  # or are reaped


def is_gone(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_program_returns_its_status_and_its_errors():
    assert run_tidily(["sh", "-c", "echo no >&2; exit 3"], timeout=60.0) == (3, "no\n")


def test_a_program_that_takes_too_long_is_ended():
    with pytest.raises(subprocess.TimeoutExpired):
        run_tidily(["sleep", "60"], timeout=0.01)


def test_an_interruption_is_not_hidden_by_a_program_that_ended_meanwhile(monkeypatch):
    def interrupted(process, timeout):
        process.wait()  # as Popen itself does for a moment when Ctrl-C comes
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tidily(["true"], timeout=60.0)


def test_an_interruption_while_a_program_starts_ends_it(monkeypatch):
    start, started = subprocess.Popen.__init__, []

    def interrupted(process, *args, **options):
        start(process, *args, **options)
        started.append(process.pid)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess.Popen, "__init__", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_tidily(["sleep", "600"], timeout=60.0)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        os.killpg(started[0], 0)


def test_an_interruption_while_a_program_cannot_be_started_is_not_lost(monkeypatch):
    def interrupted(*args, **options):
        signal.raise_signal(signal.SIGINT)
        raise FileNotFoundError("no such program")

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_tidily(["sleep", "600"], timeout=60.0)
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_handler_of_the_signal_is_put_back():
    with tidy_when_terminated():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_that_was_there_stays(monkeypatch):
    mine = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        theirs = signal.getsignal(signal.SIGTERM)
        with tidy_when_terminated():
            assert signal.getsignal(signal.SIGTERM) is theirs
    finally:
        signal.signal(signal.SIGTERM, mine)


def test_other_threads_do_not_touch_the_handler():
    seen = []

    def work():
        with tidy_when_terminated():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60.0)
    assert seen == [signal.SIG_DFL]
