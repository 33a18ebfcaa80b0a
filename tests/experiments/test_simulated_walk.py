"""`SimulatedWalk` in a notebook: the examples of the room's README, and what its arguments reach."""

import re
from pathlib import Path

import pytest

import gradiva.experiments

README = Path(gradiva.experiments.__file__).with_name("README.md")
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def run(example):
    namespace = {}
    exec(compile(example, str(README), "exec"), namespace)
    return namespace


@pytest.mark.walk
def test_the_first_example_walks_and_keeps_its_log(capsys):
    names = run(EXAMPLES[0])
    assert capsys.readouterr().out.startswith("walked {'rms': 0.0")
    assert names["com"].shape == (len(names["outcome"].log), 3)
    assert names["com"][-1, 0] > 0.4
    assert names["outcome"].walked
