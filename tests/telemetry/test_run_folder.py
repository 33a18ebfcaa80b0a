import dataclasses
import json
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.telemetry import RunFolder, plain, unused_path, without_none


class Colour(StrEnum):
    RED = "red"


@dataclasses.dataclass(frozen=True)
class Gains:
    com: float
    feet: tuple[float, ...]
    torso: float | None = None


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    runs = {RunFolder.create(tmp_path, "walk", {}).path for _ in range(5)}
    assert len(runs) == 5
    assert all(run.is_dir() for run in runs)


def test_the_folder_is_named_by_time_and_robot(tmp_path):
    run = RunFolder.create(tmp_path / "runs", "icub v2/7: dcm", {})
    assert run.path.parent == tmp_path / "runs"
    date, clock, title = run.name.split("-", 2)
    assert (len(date), len(clock)) == (8, 6)
    assert title == "icub-v2-7-dcm"


def test_configuration_survives(tmp_path):
    config = {"gains": Gains(4.0, (1.0, 2.0)), "names": ["a", "ü"], "colour": Colour.RED, "path": Path("x/y")}
    run = RunFolder.create(tmp_path, "walk", config)
    assert RunFolder(run.path).read_config() == {
        "gains": {"com": 4.0, "feet": [1.0, 2.0]},
        "names": ["a", "ü"],
        "colour": "red",
        "path": "x/y",
    }


def test_a_result_is_plain_json(tmp_path):
    run = RunFolder.create(tmp_path, "walk", {})
    assert run.read_result() == {}
    run.write_result({"outcome": "walked", "rms": np.float64(0.5), "pose": np.arange(3), "drift": float("nan")})
    expected = {"outcome": "walked", "rms": 0.5, "pose": [0, 1, 2], "drift": None}
    assert run.read_result() == expected
    assert json.loads(run.result_path.read_text()) == expected


def test_the_log_is_read_back(run, log):
    mat = run.read_log()
    assert set(mat.log.names) == set(log.names)
    np.testing.assert_array_equal(mat.log["zmp::measured"], log["zmp::measured"])


def test_what_is_not_a_run_is_refused_in_one_line(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere is not a run: there is no such folder$"):
        RunFolder(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"is not a run: it has no config\.toml$"):
        RunFolder(tmp_path)


def test_broken_files_are_refused_by_name(run):
    run.result_path.write_text("{")
    with pytest.raises(ConfigError, match=r"result\.json is not valid JSON"):
        run.read_result()
    run.result_path.write_text("[1]")
    with pytest.raises(ConfigError, match="expected an object, got list"):
        run.read_result()
    run.config_path.write_text("a = ")
    with pytest.raises(ConfigError, match=r"config\.toml is not valid TOML"):
        run.read_config()
    run.log_path.unlink()
    with pytest.raises(ConfigError, match=r"there is no log .*log\.mat"):
        run.read_log()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write a run below"):
        RunFolder.create(tmp_path / "file", "walk", {})


def test_the_name_of_a_dangling_link_is_not_free(tmp_path):
    (tmp_path / "page.html").symlink_to(tmp_path / "gone")
    assert unused_path(tmp_path, "page", ".html") == tmp_path / "page-2.html"


def test_values_become_plain():
    assert plain({"a": (np.int64(1), np.bool_(True), float("inf")), 2: {3.0}}) == {"a": [1, True, None], "2": [3.0]}
    assert without_none({"a": None, "b": {"c": [1, None]}}) == {"b": {"c": [1]}}
