import pytest

from gradiva.yarp_modules.application.run_claim import (
    AlreadyRunsError,
    RunClaim,
    RunRecord,
    StartedProcess,
    claims_below,
)

RECORD = RunRecord("walk", 17, "mark", "/folder", ("/root",), (StartedProcess("a", 18, "/a"),))


@pytest.fixture
def claim(tmp_path):
    return RunClaim(tmp_path / "applications", "walk")


def test_a_record_comes_back_as_it_was_written(claim):
    with claim.held():
        claim.write(RECORD)
        assert claim.read() == RECORD


def test_two_cannot_hold_it_and_the_second_is_told_by_whom(claim, tmp_path):
    other = RunClaim(tmp_path / "applications", "walk")
    with claim.held():
        claim.write(RECORD)
        with pytest.raises(AlreadyRunsError, match=r"walk is running already \(process 17\): gradiva app stop walk"):
            other.held().__enter__()
    with other.held():
        assert other.read() == RECORD


def test_it_leaves_no_file(claim, tmp_path):
    with claim.held():
        claim.write(RECORD)
        claim.clear()
    assert list((tmp_path / "applications").iterdir()) == []


def test_records_of_all_applications_are_found_and_broken_ones_left_out(tmp_path):
    folder = tmp_path / "applications"
    claim = RunClaim(folder, "an odd/name")
    with claim.held():
        claim.write(RunRecord("an odd/name", 1, "m", "/f"))
    (folder / "broken.json").write_text("{")
    assert [each.application for each in claims_below(folder)] == ["an odd/name"]
