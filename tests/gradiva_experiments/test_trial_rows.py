"""Rows of a campaign: each once, whatever kills the driver, and none without a disk."""

import json
import os

import pyarrow.parquet as pq
import pytest

from gradiva.common import ConfigError
from gradiva_experiments.campaign import trial_rows
from gradiva_experiments.campaign.trial_rows import TrialRows, is_disk_trouble, read_rows, row_keys
from tests.full_disk import full_at


def row(number, **more):
    return {"key": f"k{number}", "speed": 0.1 * number, "outcome": "walked", "cause": None, **more}


def filled(folder, numbers):
    with TrialRows(folder) as rows:
        for number in numbers:
            rows.add(row(number))


def test_rows_are_read_back_as_they_were_added_and_a_key_is_added_once(tmp_path):
    filled(tmp_path, [0, 1, 1])
    filled(tmp_path, [1, 2])
    assert [each["key"] for each in read_rows(tmp_path)] == ["k0", "k1", "k2"]
    assert read_rows(tmp_path)[2] == row(2)


def test_columns_that_only_later_rows_have_are_read(tmp_path):
    filled(tmp_path, [0])
    with TrialRows(tmp_path) as rows:
        rows.add(row(1, error="ValueError", walked=True, count=3))
    assert read_rows(tmp_path)[1]["count"] == 3.0
    assert read_rows(tmp_path)[1]["walked"] is True


def test_a_torn_line_of_a_killed_driver_is_cut_off(tmp_path):
    (tmp_path / "part-00000.jsonl").write_text(json.dumps(row(0)) + "\n" + '{"key": "k1", "spe')
    assert [each["key"] for each in read_rows(tmp_path)] == ["k0"]
    filled(tmp_path, [0, 1])
    assert [each["key"] for each in read_rows(tmp_path)] == ["k0", "k1"]


def test_a_driver_killed_between_part_and_journal_leaves_each_row_once(tmp_path):
    filled(tmp_path, [0, 1])
    (tmp_path / "part-00000.jsonl").write_text("".join(json.dumps(row(number)) + "\n" for number in (0, 1)))
    assert len(read_rows(tmp_path)) == 2
    filled(tmp_path, [1, 2])
    assert [each["key"] for each in read_rows(tmp_path)] == ["k0", "k1", "k2"]


def test_a_journal_that_becomes_a_part_while_both_are_listed_is_read_once(tmp_path, monkeypatch):
    filled(tmp_path, [0, 1])
    lists = [{0: tmp_path / "part-00000.jsonl"}, {}]  # as they were before it became a part

    def files(folder, kind, listed=trial_rows._files):
        return lists.pop(0) if lists else listed(folder, kind)

    monkeypatch.setattr(trial_rows, "_files", files)
    assert row_keys(tmp_path) == ["k0", "k1"]
    assert not lists


def test_parts_have_a_number_of_rows_and_the_journal_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(trial_rows, "_PART", 3)
    rows = TrialRows(tmp_path)
    for number in range(7):
        rows.add(row(number))
    counts = [pq.read_table(path).num_rows for path in sorted(tmp_path.glob("*.parquet"))]
    assert counts == [3, 3]
    assert [each["key"] for each in read_rows(tmp_path)] == [f"k{number}" for number in range(7)]


def test_a_full_disk_leaves_nothing_of_a_row_that_is_added_again_later(tmp_path):
    rows = TrialRows(tmp_path)
    rows.add(row(0))
    with full_at((tmp_path / "part-00000.jsonl").stat().st_size + 10), pytest.raises(OSError) as raised:  # noqa: PT011
        rows.add(row(1))
    assert is_disk_trouble(raised.value)
    rows.add(row(1))
    assert [each["key"] for each in read_rows(tmp_path)] == ["k0", "k1"]


def test_a_folder_has_one_writer(tmp_path):
    with TrialRows(tmp_path), pytest.raises(ConfigError, match="another run writes to it"):
        TrialRows(tmp_path)


@pytest.mark.parametrize("part", [1, 2, 3, 100])
def test_a_column_has_one_type_however_its_rows_are_divided_into_parts(tmp_path, monkeypatch, part):
    monkeypatch.setattr(trial_rows, "_PART", part)
    values = [(1, 1, True, 1), (2, 0.5, False, True), (3, "ideal", True, 1.5), (4, 1.0, True, None)]
    rows = TrialRows(tmp_path)
    for number, (seed, mixed, both, odd) in enumerate(values):
        rows.add(row(number, seed=seed, mixed=mixed, both=both, odd=odd))
    found = read_rows(tmp_path)
    assert [repr(each["seed"]) for each in found] == ["1.0", "2.0", "3.0", "4.0"]
    assert [each["mixed"] for each in found] == ["1", "0.5", "ideal", "1"]
    assert [each["both"] for each in found] == [True, False, True, True]
    assert [each["odd"] for each in found] == ["1", "True", "1.5", None]


def test_a_part_is_on_the_disk_before_its_journal_goes(tmp_path, monkeypatch):
    synchronized, fsync = [], os.fsync

    def noted(descriptor):
        synchronized.append((os.readlink(f"/proc/self/fd/{descriptor}"), len(list(tmp_path.glob("*.jsonl")))))
        fsync(descriptor)

    monkeypatch.setattr(trial_rows.os, "fsync", noted)
    filled(tmp_path, [0, 1])
    assert synchronized == [(str(tmp_path / "part-00000.unfinished"), 1), (str(tmp_path), 1)]
    assert not list(tmp_path.glob("*.jsonl"))
