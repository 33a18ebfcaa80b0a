"""Logs as MATLAB files, CSV and NPZ."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io.matlab import matfile_version
from synthetic_walk import JOINTS, walk_log, walk_result

from gradiva.cli.main import run as gradiva
from gradiva.common import ConfigError
from gradiva.telemetry import LogError, RunFolder, SignalLog, read_mat, write_mat
from tests.full_disk import full_at

KNEES = ("l_knee", "r_knee")


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(3)
    log = SignalLog.from_arrays(
        0.01 * np.arange(3000),
        {
            "dcm::position::measured": rng.normal(size=(3000, 2)),
            "dcm::velocity::desired": rng.normal(size=(3000, 2)),
            "joints_state::positions::measured": rng.normal(size=(3000, 2)),
            "stance_foot::is_left": np.arange(3000) % 2.0,
        },
    )
    log.describe("dcm::position::measured", ("x", "y"), "m")
    write_mat(tmp_path / "log.mat", log, KNEES, "icub_v2_7", {"seed": 3, "name": "Grüße"})
    return tmp_path / "log.mat"


def text_of(dataset):
    return "".join(chr(unit[0]) for unit in dataset)


def test_what_is_written_is_read_back(path):
    mat = read_mat(path)
    rng = np.random.default_rng(3)
    assert mat.joints == KNEES
    assert mat.robot_name == "icub_v2_7"
    assert mat.metadata == {"seed": 3, "name": "Grüße"}
    assert len(mat.log.names) == 4
    np.testing.assert_array_equal(mat.log.times, 0.01 * np.arange(3000))
    np.testing.assert_array_equal(mat.log["dcm::position::measured"], rng.normal(size=(3000, 2)))
    np.testing.assert_array_equal(mat.log["stance_foot::is_left"][:, 0], np.arange(3000) % 2)
    assert mat.log.info("dcm::position::measured").elements == ("x", "y")
    assert mat.log.info("dcm::position::measured").unit == "m"


def test_the_file_begins_like_matlabs(path):
    block = path.read_bytes()[:512]
    assert block.startswith(b"MATLAB 7.3 MAT-file")
    assert block[124:128] == b"\x00\x02IM"
    assert block[128:] == bytes(384)
    assert matfile_version(path)[0] == 2


def test_a_signal_is_nested_structs_with_reversed_shapes(path):
    with h5py.File(path) as file:
        leaf = file["robot_logger_device/walking/dcm/position/measured"]
        assert leaf["data"].shape == (3000, 1, 2)
        assert leaf["timestamps"].shape == (3000, 1)
        assert leaf["dimensions"][:, 0].tolist() == [2.0, 1.0]
        assert text_of(leaf["name"]) == "measured"
        assert [text_of(file[name]) for name in leaf["elements_names"][0]] == ["x", "y"]
        assert [text_of(file[name]) for name in leaf["units_of_measure"][0]] == ["m", "m"]


def test_joints_and_robot_are_where_the_visualiser_looks(path):
    with h5py.File(path) as file:
        root = file["robot_logger_device"]
        assert [text_of(file[name]) for name in root["description_list"][0]] == list(KNEES)
        assert text_of(root["yarp_robot_name"]) == "icub_v2_7"
        drawn, logged = root["joints_state/positions"], root["walking/joints_state/positions/measured"]
        np.testing.assert_array_equal(drawn["data"][:], logged["data"][:])
        assert "joints_state/velocities" not in root


def test_every_node_has_its_matlab_class(path):
    classes = {}
    with h5py.File(path) as file:
        file["robot_logger_device"].visititems(lambda name, node: classes.update({name: node.attrs["MATLAB_class"]}))
        fields = file["robot_logger_device"].attrs["MATLAB_fields"]
        assert "walking" in [b"".join(field).decode() for field in fields]
        assert file["robot_logger_device/yarp_robot_name"].attrs["MATLAB_int_decode"] == 2
    assert classes["walking/dcm"] == b"struct"
    assert classes["walking/dcm/position/measured/data"] == b"double"
    assert classes["walking/dcm/position/measured/name"] == b"char"
    assert classes["description_list"] == b"cell"


def test_an_empty_log_survives(tmp_path):
    write_mat(tmp_path / "log.mat", SignalLog(), (), "")
    mat = read_mat(tmp_path / "log.mat")
    assert len(mat.log) == 0
    assert mat.joints == ()
    assert mat.robot_name == ""
    assert mat.metadata == {}


def test_a_missing_or_foreign_file_is_refused_by_name(tmp_path):
    with pytest.raises(LogError, match="there is no log"):
        read_mat(tmp_path / "none.mat")
    (tmp_path / "text.mat").write_text("no HDF5 at all")
    with pytest.raises(LogError, match=r"text\.mat is not a walking log"):
        read_mat(tmp_path / "text.mat")
    with h5py.File(tmp_path / "other.mat", "w") as file:
        file["robot_logger_device/x"] = 1.0
    with pytest.raises(LogError, match=r"other\.mat is not a walking log"):
        read_mat(tmp_path / "other.mat")


def test_a_log_whose_texts_are_gone_is_refused_by_name(path):
    with h5py.File(path, "r+") as file:
        names = file["robot_logger_device/description_list"]
        names[0, 0] = h5py.Reference()
    with pytest.raises(LogError, match="is not a walking log"):
        read_mat(path)


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


def test_the_example_of_a_notebook_reads_the_last_run(folder, capsys):
    text = (Path(__file__).parents[2] / "docs/how_to/notebook.md").read_text(encoding="utf-8")
    (example,) = (code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "read_mat" in code)
    exec(compile(example, "notebook.md", "exec"), {})
    log = folder.read_log().log
    error = np.linalg.norm(log["dcm::position::measured"] - log["dcm::position::desired"], axis=1)
    assert (
        capsys.readouterr().out
        == f"largest DCM error: {1e3 * error.max():.0f} mm at {log.times[error.argmax()]:.2f} s\n"
    )


FULL_DISK = """
import resource, sys
from pathlib import Path
from synthetic_walk import JOINTS, walk_log
from gradiva.telemetry import write_mat

path, sizes = Path(sys.argv[1]), map(int, sys.argv[2:])
for size in sizes:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        write_mat(path, walk_log(3.0), JOINTS, "icub_v2_7")
    except OSError as error:
        print(error.strerror, Path(error.filename).name, path.exists())
"""


def test_a_full_disk_is_an_error_that_leaves_no_torn_file_and_does_not_crash(tmp_path):
    """In a process of its own: HDF5 has ended it by a signal."""
    path = tmp_path / "log.mat"
    write_mat(path, walk_log(3.0), JOINTS, "icub_v2_7")
    size = path.stat().st_size
    sizes = [300, size // 3, size - 4000]
    command = [sys.executable, "-c", FULL_DISK, str(path), *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["File too large log.mat False"] * len(sizes)


def test_a_run_on_a_full_disk_is_refused_and_leaves_no_folder(tmp_path):
    with full_at(100), pytest.raises(ConfigError, match=r"cannot write .*config.toml: File too large"):
        RunFolder.create(tmp_path, "walk", {"walking": {"words": "long " * 100}})
    assert list(tmp_path.iterdir()) == []
