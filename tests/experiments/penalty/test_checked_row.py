from gradiva.experiments.penalty.checked_row import checked_row


def test_a_row_is_met_within_its_tolerance_and_tells_how_far_it_is_off() -> None:
    assert checked_row({"mu": 1}, "force [N]", 10.0, 10.1, 0.2)["outcome"] == "met"
    failed = checked_row({"mu": 1}, "force [N]", 10.0, 10.5, 0.2)
    assert (failed["outcome"], failed["reason"]) == ("failed", "0.5 away, 0.2 is allowed")
