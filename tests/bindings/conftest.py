"""Processes on the bindings: the stand-in for YARP's own, or with ``GRADIVA_TEST_BINDINGS=real`` those themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradiva.simulated_walk.private_network import without_network

STAND_IN = Path(__file__).parent / "stand_in"
REPOSITORY = STAND_IN.parents[2]
WISH = "GRADIVA_TEST_BINDINGS"
JOURNAL = "GRADIVA_STAND_IN_JOURNAL"
IS_STAND_IN = os.environ.get(WISH, "stand-in") != "real"


class Bindings:
    """Runs programs on the bindings, in a network of their own.

    Attributes:
        folder: Where they run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._journal = folder / "journal"

    def run(self, *words: str, timeout: float = 600.0) -> subprocess.CompletedProcess[str]:
        """Run Python with these words."""
        packages = [str(REPOSITORY / "modules" / each) for each in ("pureyarp", "gradiva_experiments", "")]
        paths = [*([str(STAND_IN)] if IS_STAND_IN else []), *packages, str(REPOSITORY)]
        environment = without_network(os.environ) | {
            "GRADIVA_YARP": "real",
            "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]),
            "YARP_CONFIG_HOME": str(self.folder),
            "OMP_NUM_THREADS": "1",
            JOURNAL: str(self._journal),
        }
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def journal(self) -> list[str]:
        """Return what the stand-in has noted."""
        return self._journal.read_text().splitlines() if self._journal.exists() else []


@pytest.fixture(scope="module")
def bindings(tmp_path_factory) -> Bindings:
    """Return bindings in a folder of their own."""
    return Bindings(tmp_path_factory.mktemp("bindings"))
