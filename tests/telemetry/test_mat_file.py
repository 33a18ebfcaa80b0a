import h5py
import numpy as np
import pytest
from scipy.io.matlab import matfile_version

from gradiva.telemetry import LogError, SignalLog, read_mat, write_mat

JOINTS = ("l_knee", "r_knee")


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
    write_mat(tmp_path / "log.mat", log, JOINTS, "icub_v2_7", {"seed": 3, "name": "Grüße"})
    return tmp_path / "log.mat"


def text_of(dataset):
    return "".join(chr(unit[0]) for unit in dataset)


def test_what_is_written_is_read_back(path):
    mat = read_mat(path)
    rng = np.random.default_rng(3)
    assert mat.joints == JOINTS
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
        assert [text_of(file[name]) for name in root["description_list"][0]] == list(JOINTS)
        assert text_of(root["yarp_robot_name"]) == "icub_v2_7"
        drawn, logged = root["joints_state/positions"], root["walking/joints_state/positions/measured"]
        np.testing.assert_array_equal(drawn["data"][:], logged["data"][:])
        assert "joints_state/velocities" not in root


def test_every_node_tells_its_matlab_class(path):
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
