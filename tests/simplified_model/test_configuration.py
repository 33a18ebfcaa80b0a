"""Every shipped configuration of this room loads, for every robot."""

import tomllib
from pathlib import Path

import pytest

from gradiva.common import ConfigError, from_table, merge
from gradiva.simplified_model import (
    DcmControllerConfig,
    DcmMpcConfig,
    ZmpComControllerConfig,
)

ROOT = Path(__file__).parents[2]
FILE = "simplified_model.toml"
KINDS = {
    "dcm_controller": DcmControllerConfig,
    "dcm_mpc": DcmMpcConfig,
    "zmp_com_controller": ZmpComControllerConfig,
}


def tables(robot: str) -> dict:
    merged = tomllib.loads((ROOT / "config" / FILE).read_text(encoding="utf-8"))
    override = ROOT / "robots" / robot / FILE
    return merge(merged, tomllib.loads(override.read_text(encoding="utf-8"))) if override.exists() else merged


@pytest.mark.parametrize("robot", sorted(path.parent.name for path in (ROOT / "robots").glob("*/robot.toml")))
def test_every_robot_has_a_valid_configuration(robot):
    merged = tables(robot)
    assert merged.keys() == KINDS.keys()
    for name, kind in KINDS.items():
        assert isinstance(from_table(kind, merged[name], name), kind)


def test_talos_walks_with_its_own_gains_and_keeps_the_rest():
    config = from_table(ZmpComControllerConfig, tables("talos")["zmp_com_controller"], "talos")
    assert (config.walking.zmp, config.walking.com) == (2.0, 3.0)
    assert (config.standing.zmp, config.standing.com) == (0.9, 5.0)


def test_a_misspelt_gain_is_named():
    table = {"walking": {"zpm": 4.0, "com": 4.0}, "standing": {"zmp": 1.0, "com": 1.0}}
    with pytest.raises(ConfigError, match="did you mean 'zmp'"):
        from_table(ZmpComControllerConfig, table, "[zmp_com_controller]")
