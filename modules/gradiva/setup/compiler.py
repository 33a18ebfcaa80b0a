"""Compile CasADi functions with the machine's C compiler, keep the libraries, leave nothing behind when interrupted."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType

import casadi as cs

_SPEED = 1e5  # [characters/s] of C source that a slow machine compiles
_TIMEOUT = 300.0  # [s]
# Operations are rounded as they stand, none contracted to fused ones: digits do not depend on what a compiler finds.
# -ffast-math would change the whole process.
_FLAGS = ("-O2", "-ffp-contract=off", "-march=native", "-shared", "-fPIC")
# Passes that look for loops and branches, of which this code has next to none: without them -O2 compiles for torque
# control a tenth longer than -O1, for inverse kinematics up to twice as long, and what it makes runs a sixth faster.
_FEWER_PASSES = ("-fno-tree-ch", "-fno-tree-dominator-opts", "-fno-tree-vrp", "-fno-gcse")
# A function of 400 kB without loops runs once in a tick, from beyond the second-level cache: the processor mostly waits
# for its code. Fetched ahead, inverse kinematics take 28 µs, not 62 (38 000 operations, Xeon).
_PREFETCH = '__asm__ volatile("prefetcht1 4096(%rip)");\n'  # of the code that comes 4 kB later
_STATEMENTS = re.compile(r"(?:(?:a\d+=|if \(res).*\n){7}")  # about 64 B of code, a line of the cache


_SIMPLIFICATION = "simplified, 2"  # counts what changes in how functions are simplified or C is generated


class GccCompiler:
    """Turn a CasADi function into a shared library; where that fails the function is returned as it is.

    The library's name is a hash of its C source, or of the function that was simplified, of the flags, the compiler and
    the processor, so it is found again at the next start and never used on another machine.

    Attributes:
        folder: Where libraries are kept.
        failure: Why the last function could not be compiled, or None.
    """

    def __init__(self, folder: Path, announce: Callable[[str], None] | None = None) -> None:
        """Remember where to keep libraries.

        Args:
            folder: Created when needed.
            announce: Called with one line before a compilation, which takes seconds, and at the first failure; by
                default the line goes to standard error.
        """
        self.folder = folder
        self.failure: str | None = None
        self._announce = announce or print_line
        self._compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")

    def __eq__(self, other: object) -> bool:
        """Return whether both make the same library of a function."""
        return isinstance(other, GccCompiler) and self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)

    @property
    def _place(self) -> tuple[Path, str | None]:
        return self.folder, self._compiler

    def __call__(self, function: cs.Function) -> cs.Function:
        """Return the compiled function, or ``function`` when there is no working compiler."""
        return self._compiled(function, lambda: self._library(function, self._key))

    def simplified(self, function: cs.Function, simplify: Callable[[], cs.Function]) -> cs.Function:
        """Return the compiled function that ``simplify`` makes of ``function``; made only where it is not there yet."""

        def library() -> Path:
            """Return the library, made where it is not there yet."""
            serialized = f"{_SIMPLIFICATION}|{cs.CasadiMeta.version()}|{function.serialize()}".encode()
            found = self._place_of(function.name(), self._key(serialized))
            return found if found.exists() else self._library(simplify(), lambda source: self._key(serialized))

        return self._compiled(function, library)

    def _compiled(self, function: cs.Function, library: Callable[[], Path]) -> cs.Function:
        if self._compiler is None:
            return self._give_up(function, "no C compiler (gcc, cc or clang) on the path")
        try:
            return cs.external(function.name(), str(library()))
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            return self._give_up(function, str(error))

    def _give_up(self, function: cs.Function, why: str) -> cs.Function:
        if self.failure is None:
            self._announce(f"{function.name()} is not compiled, the controller is slower but works: {why}")
        self.failure = why
        return function

    def _key(self, content: bytes) -> str:
        return hashlib.sha256(content + self._signature()).hexdigest()[:24]

    def _place_of(self, name: str, key: str) -> Path:
        return self.folder / f"{name}-{key}.so"

    def _library(self, function: cs.Function, key_of: Callable[[bytes], str]) -> Path:
        """Return the library of a function, compiled if it is not there.

        Args:
            function: Is translated to C.
            key_of: Returns the key of its C source.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with tidy_when_terminated(), tempfile.TemporaryDirectory(dir=self.folder) as workshop:
            source = Path(workshop, f"{function.name()}.c")
            _generate(function, source)
            library = self._place_of(function.name(), key_of(source.read_bytes()))
            if not library.exists():
                seconds = max(1.0, source.stat().st_size / _SPEED)
                place = typed_path(self.folder)
                self._announce(
                    f"compiling {function.name()} (once on this machine, about {seconds:.0f} s; kept in {place})"
                )
                self._compile(source, library)
            return library

    def _compile(self, source: Path, library: Path) -> None:
        finished = source.with_suffix(".so")
        command = [str(self._compiler), *_FLAGS, str(source), "-o", str(finished), "-lm"]
        status, errors = run_tidily([*command, *_FEWER_PASSES], _TIMEOUT)
        if status != 0:  # a compiler that does not know them, or another processor's, or one that does not work
            status, errors = run_tidily(command, _TIMEOUT)
        if status != 0 and _leave_out_prefetches(source):
            status, errors = run_tidily(command, _TIMEOUT)
        if status != 0:
            raise OSError(f"{self._compiler} failed: {' '.join(errors.strip().splitlines()[-1:])}")
        os.replace(finished, library)

    def _signature(self) -> bytes:
        flags = (*_FLAGS, *_FEWER_PASSES)
        return "|".join([str(self._compiler), *flags, platform.machine(), processor_line("flags")]).encode()


def print_line(line: str) -> None:
    """Print a line on standard error, at once."""
    print(line, file=sys.stderr, flush=True)


def typed_path(folder: Path) -> Path:
    """Return a folder as it is typed, ``~/.cache/gradiva``; without a home folder as it is."""
    home = Path(os.path.expanduser("~"))  # of users without one it stays "~", where `Path.home` raises
    return "~" / folder.relative_to(home) if home.is_absolute() and folder.is_relative_to(home) else folder


def _generate(function: cs.Function, source: Path) -> None:
    generator = cs.CodeGenerator(source.stem, {"with_header": False, "main": False, "indent": 0})
    generator.add(function)
    code = generator.dump()
    if platform.machine() in ("x86_64", "AMD64"):
        code = _STATEMENTS.sub(lambda found: found[0] + _PREFETCH, code)
    source.write_text(code, encoding="utf-8")


def _leave_out_prefetches(source: Path) -> bool:
    """Write the source without instructions that not every assembler of the processor takes; return whether it had any.

    Those of 32-bit programs and of other processors refuse them.
    """
    code = source.read_text(encoding="utf-8")
    plain = code.replace(_PREFETCH, "")
    source.write_text(plain, encoding="utf-8")
    return plain != code


def processor_line(name: str) -> str:
    """Return the first line of the machine's list of processors that begins so; without such a list their kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(name)), platform.processor())


@contextmanager
def tidy_when_terminated() -> Iterator[None]:
    """Within it SIGTERM raises ``SystemExit`` with status 143, so that open contexts are left as by Ctrl-C.

    Where SIGTERM is handled already, and outside of the main thread, nothing changes.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def run_tidily(command: Sequence[str], timeout: float) -> tuple[int, str]:
    """Run a program that may start others; an exception while waiting ends all of them.

    Args:
        command: The program and its arguments.
        timeout: [s].

    Returns:
        Its exit status and its standard error.

    Raises:
        OSError: It cannot be started.
        TimeoutExpired: It took too long.
    """
    with ExitStack() as stack:
        with _interruptions_later():  # one while it starts would leave it running
            started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
            process = stack.enter_context(started)
            stack.push(partial(_end_group, process.pid))
        _, errors = process.communicate(timeout=timeout)
        return process.returncode, errors


def _end_group(group: int, raised: object, *_: object) -> None:
    """End the processes of a group where an exception was raised."""
    if raised is not None:
        with suppress(ProcessLookupError):  # it ended by itself meanwhile; that must not hide the interruption
            os.killpg(group, signal.SIGTERM)  # compilers then remove their own files


@contextmanager
def _interruptions_later() -> Iterator[None]:
    """Within it SIGINT and SIGTERM wait; they are raised at its end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handled = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for interruption in came:  # also where the program cannot be started
            signal.raise_signal(interruption)
