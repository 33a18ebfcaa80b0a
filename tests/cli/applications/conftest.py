"""A network, a folder of records and an application of two dummies for each test."""

import sys
from pathlib import Path

import pytest

from tests.cli.yarp.conftest import configured, name_server, names, start

__all__ = ["configured", "name_server", "names", "start"]

DUMMY = Path(__file__).parent / "dummy_module.py"
APPLICATION = f"""<application>
  <name>two dummies</name>
  <module><name>{DUMMY}</name><deployer>{sys.executable}</deployer><parameters>--name /b</parameters><rank>2</rank>
    <dependencies><port timeout="60">/a/rpc</port></dependencies></module>
  <module><name>{DUMMY}</name><deployer>{sys.executable}</deployer><parameters>--name /a</parameters><rank>1</rank>
  </module>
  <connection><from>/a/out</from><to>/b/in</to><protocol>fast_tcp</protocol></connection>
</application>
"""


@pytest.fixture
def application(configured, tmp_path, monkeypatch):
    """Return the file of an application whose second module waits for the first one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two.xml"
    path.write_text(APPLICATION)
    return path
