import getpass
import os

import pytest

from gradiva.common import ConfigError
from gradiva.yarp_modules.application.run_claim import (
    AlreadyRunsError,
    RunClaim,
    RunOrigin,
    RunRecord,
    StartedProcess,
    claims_below,
    records_folder,
)

ORIGIN = RunOrigin("ana", "lab3", "/dev/pts/4 over SSH from 10.0.0.7", "2026-03-05 10:12", "/root")
RECORD = RunRecord("walk", 17, "mark", "/folder", ("/root",), (StartedProcess("a", 18, "/a"),), ORIGIN)


@pytest.fixture
def claim(tmp_path):
    return RunClaim(tmp_path / "applications", "walk")


def test_a_record_comes_back_as_it_was_written(claim):
    with claim.held():
        claim.write(RECORD)
        assert claim.read() == RECORD


def test_two_cannot_hold_it_and_the_second_learns_the_holder(claim, tmp_path):
    other = RunClaim(tmp_path / "applications", "walk")
    with claim.held():
        claim.write(RECORD)
        with pytest.raises(AlreadyRunsError) as refusal:
            other.held().__enter__()
    for part in (
        "walk is running already (process 17 of ana on lab3, /dev/pts/4 over SSH from 10.0.0.7, since 2026-03-05 10:12;"
        " folder /folder)",
        "`gradiva app stop walk` on lab3",
        "`export YARP_NAMESPACE=/NAME`",
    ):
        assert part in str(refusal.value)
    with other.held():
        assert other.read() == RECORD


def test_runs_on_different_networks_have_different_records(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folders = [records_folder(), records_folder("/root"), records_folder("/ana")]
    assert folders[0] == folders[1] == tmp_path / "gradiva" / "applications"
    assert folders[2] == folders[0] / "ana"
    with RunClaim(folders[0], "walk").held(), RunClaim(folders[2], "walk").held():
        pass


def test_an_account_without_a_home_is_refused_with_what_to_set(monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # neither HOME nor an entry of the user
    with pytest.raises(ConfigError, match=r"no home folder .*: set HOME or XDG_STATE_HOME"):
        records_folder()


def test_the_origin_of_this_process_is_here():
    origin = RunOrigin.here("/ana")
    assert origin.is_here
    assert origin.namespace == "/ana"
    assert origin.host
    assert origin.user
    assert not ORIGIN.is_here


def test_an_account_without_a_name_and_a_terminal_out_of_sight_have_an_origin_too(monkeypatch):
    """As in a container."""

    def fail(*_):
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", fail)
    monkeypatch.setattr(os, "ttyname", lambda _: os.stat("/dev/there-is-no-such-terminal"))
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    origin = RunOrigin.here("/root")
    assert (origin.user, origin.terminal) == (str(os.getuid()), "")


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
