"""What is asked of a row, and whether it came."""

import pytest

from gradiva.experiments.asked import COM_LIMIT, Asked, is_fulfilled, judged


def walked(error):
    return {"outcome": "walked", "reason": "done", "com_error_m": {"max": error}}


def test_a_walk_with_the_centre_of_mass_at_its_limit_is_one_and_beyond_it_is_inaccurate():
    assert judged(walked(COM_LIMIT)) == ("walked", "done")
    assert judged(walked(0.0124)) == ("inaccurate", "walked, but CoM 12.4 mm, 10 mm is the limit")


def test_what_did_not_walk_keeps_its_reason():
    assert judged(walked(0.5) | {"outcome": "fell", "reason": "tilted"}) == ("fell", "tilted")
    assert judged({"outcome": "stopped", "reason": "no plan"}) == ("stopped", "no plan")


@pytest.mark.parametrize(
    ("asked", "fulfilling"),
    [
        (None, {"walked", "met"}),
        (Asked.TO_TRACK, {"walked", "met"}),
        (Asked.TO_WALK, {"walked", "met", "inaccurate"}),
        (Asked.AS_FOUND, {"walked", "met", "inaccurate", "fell", "stopped", "missed"}),
    ],
)
def test_a_row_is_fulfilled_by_what_is_asked_of_it(asked, fulfilling):
    outcomes = ("walked", "met", "inaccurate", "fell", "stopped", "missed")
    rows = [{"outcome": outcome} | ({} if asked is None else {"asked": str(asked)}) for outcome in outcomes]
    assert {row["outcome"] for row in rows if is_fulfilled(row)} == fulfilling
