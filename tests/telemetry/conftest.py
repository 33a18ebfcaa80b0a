import pytest
from synthetic_walk import JOINTS, walk_log, walk_result

from gradiva.telemetry import RunFolder


@pytest.fixture(scope="session")
def log():
    return walk_log(duration=6.0)


@pytest.fixture
def run(tmp_path, log):
    folder = RunFolder.create(tmp_path, "icub_v2_7-dcm", {"walking": {"speed": 0.15}, "robot": "icub_v2_7"})
    folder.write_result(walk_result())
    folder.write_log(log, JOINTS, "icub_v2_7")
    return folder
