"""The modules use what the real bindings have, and nothing else: they run on both."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradiva.yarp_modules
from tests.middleware.test_api_conformance import is_in_the_bindings, used_names

MODULES = Path(gradiva.yarp_modules.__file__).parent
SOURCES = sorted(MODULES.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(MODULES)))
def test_modules_use_only_names_of_the_bindings(path):
    assert [(name, line) for name, line in used_names(path) if not is_in_the_bindings(name)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(MODULES)))
def test_modules_know_nothing_of_the_embedded_implementation_but_its_elements(path):
    text = path.read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines() if "gradiva.middleware.embedded" in line]
    allowed = "from gradiva.middleware.embedded.wire.elements import"
    assert [line for line in lines if not line.startswith(allowed)] == []
