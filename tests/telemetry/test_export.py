"""Logs in the formats of other programs, and the README's example of reading one."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from synthetic_walk import JOINTS, walk_log, walk_result

from gradiva.cli.main import run as gradiva
from gradiva.telemetry import RunFolder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunFolder.create(Path("runs"), "walk", {"robot": "icub_v2_7"})
    log = walk_log(2.0)
    log.describe("zmp::measured", ("x", "y"), "m")
    run.write_log(log, JOINTS, "icub_v2_7")
    run.write_result(walk_result())
    return run


def test_csv_has_a_column_for_each_element(folder, capsys):
    assert gradiva(["export", str(folder.path), "--signal", "zmp::meas*", "--signal", "stance_foot*"]) == 0
    assert capsys.readouterr().out == f"{folder.path}/log.csv\n"
    header, *rows = csv.reader((folder.path / "log.csv").read_text().splitlines())
    assert header == ["time", "stance_foot::is_left", "zmp::measured::x", "zmp::measured::y"]
    log = folder.read_log().log
    found = np.array(rows, dtype=float)
    np.testing.assert_allclose(found[:, 0], log.times, atol=1e-9)
    np.testing.assert_allclose(found[:, 2:], log["zmp::measured"], rtol=1e-8)
    assert set(found[:, 1]) == {0.0, 1.0}


def test_npz_has_an_array_for_each_signal(folder):
    assert gradiva(["export", str(folder.path), "--format", "npz", "--out", "walk.npz"]) == 0
    log = folder.read_log().log
    with np.load("walk.npz") as arrays:
        assert set(arrays) == {"time", *log}
        np.testing.assert_array_equal(arrays["com::position::measured"], log["com::position::measured"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--signal", "zpm::measured"], "no signal 'zpm::measured'; did you mean 'zmp::measured'?"),
        (["--format", "cvs"], "unknown --format 'cvs'; did you mean 'csv'?"),
        (["--out", "nowhere/log.csv"], "cannot write nowhere/log.csv"),
    ],
)
def test_an_export_that_cannot_be_is_refused(folder, capsys, options, text):
    assert gradiva(["export", str(folder.path), *options]) == 2
    assert text in capsys.readouterr().err
    assert not (folder.path / "log.csv").exists()


def test_the_example_of_the_readme_reads_the_last_run(folder, capsys):
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (example,) = (code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "read_mat" in code)
    exec(compile(example, "README.md", "exec"), {})
    log = folder.read_log().log
    error = np.linalg.norm(log["dcm::position::measured"] - log["dcm::position::desired"], axis=1)
    assert (
        capsys.readouterr().out
        == f"largest DCM error: {1e3 * error.max():.0f} mm at {log.times[error.argmax()]:.2f} s\n"
    )
