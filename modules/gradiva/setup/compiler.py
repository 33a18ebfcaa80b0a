"""Compiles CasADi functions with the machine's C compiler and keeps the results."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import casadi as cs

from gradiva.setup.interruptible import run_tidily, tidy_when_terminated

_SPEED = 1e5  # [characters/s] of C source that a slow machine compiles
_TIMEOUT = 300.0  # [s]
# -O2 would run a sixth faster and compile four times as long, all of it in front of the first walk; -ffast-math changes
# the whole process.
_FLAGS = ("-O1", "-march=native", "-shared", "-fPIC")


class GccCompiler:
    """Turns a CasADi function into a shared library; where that fails the function is returned as it is.

    The library's name is a hash of its C source, the flags, the compiler and the processor, so it is found again at
    the next start and never used on another machine.

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
        self._announce = announce or _tell
        self._compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")

    def __call__(self, function: cs.Function) -> cs.Function:
        """Return the compiled function, or ``function`` when there is no working compiler."""
        if self._compiler is None:
            return self._give_up(function, "no C compiler (gcc, cc or clang) on the path")
        try:
            return cs.external(function.name(), str(self._library(function)))
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            return self._give_up(function, str(error))

    def _give_up(self, function: cs.Function, why: str) -> cs.Function:
        if self.failure is None:
            self._announce(f"{function.name()} is not compiled, the controller is slower but works: {why}")
        self.failure = why
        return function

    def _library(self, function: cs.Function) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        with tidy_when_terminated(), tempfile.TemporaryDirectory(dir=self.folder) as workshop:
            source = Path(workshop, f"{function.name()}.c")
            _generate(function, source)
            key = hashlib.sha256(source.read_bytes() + self._signature()).hexdigest()[:24]
            library = self.folder / f"{function.name()}-{key}.so"
            if not library.exists():
                seconds = max(1.0, source.stat().st_size / _SPEED)
                self._announce(f"compiling {function.name()} (once on this machine, about {seconds:.0f} s)")
                self._compile(source, library)
            return library

    def _compile(self, source: Path, library: Path) -> None:
        finished = source.with_suffix(".so")
        command = [str(self._compiler), *_FLAGS, str(source), "-o", str(finished), "-lm"]
        status, errors = run_tidily(command, _TIMEOUT)
        if status != 0:
            raise OSError(f"{self._compiler} failed: {' '.join(errors.strip().splitlines()[-1:])}")
        os.replace(finished, library)

    def _signature(self) -> bytes:
        return "|".join([str(self._compiler), *_FLAGS, platform.machine(), _processor()]).encode()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _generate(function: cs.Function, source: Path) -> None:
    generator = cs.CodeGenerator(source.stem, {"with_header": False, "main": False, "indent": 0})
    generator.add(function)
    source.write_text(generator.dump(), encoding="utf-8")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("flags")), platform.processor())
