"""``gradiva experiment``: the list, and the table of a run."""

import io
from dataclasses import make_dataclass

import pytest
from rich.console import Console

from gradiva.cli import progress_bar
from gradiva_experiments import all_experiments
from gradiva_experiments.command import print_rows
from gradiva_experiments.typed_options import with_options


def test_experiments_are_listed_with_their_sources(gradiva):
    status, out, _ = gradiva("experiment", "--list")
    assert status == 0
    for name in ("table_10_1", "figure_8_3", "figure_10_9", "figure_10_10", "robustness", "directions"):
        assert name in out
    assert not any("campaign" in each.source for each in all_experiments().values()), "those are gradiva campaign's"


def test_options_of_a_command_have_defaults():
    with pytest.raises(AssertionError, match="Typed has fields without a default"):
        with_options(make_dataclass("Typed", ["speed"]))


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, True), (False, False)])
def test_a_terminal_shows_what_is_being_done_and_a_log_does_not(is_terminal, shown):
    stream, doing = io.StringIO(), iter(["", *["late: push of 9.0 N·s to 0°"] * 100])
    console = Console(file=stream, width=100, force_terminal=is_terminal)
    with progress_bar(console, "push_recovery", 4, lambda: next(doing)) as update:
        update(1, "middle: 7.2 N·s")
    assert ("late: push of 9.0 N·s to 0°" in stream.getvalue()) == shown
    assert bool(stream.getvalue()) == shown


def printed(rows, width=100):
    stream = io.StringIO()
    print_rows(Console(file=stream, width=width), rows, "force [N]")
    return stream.getvalue()


def row(outcome, reason, **inputs):
    return {**inputs, "paper": 1.0, "value": 1.0, "outcome": outcome, "reason": reason}


def test_only_reasons_that_say_something_stand_below_the_table():
    rows = [row("met", "", k=1), row("failed", "0.5 away", k=2), row("walked", "done", k=3)]
    below = printed(rows).splitlines()[4:]
    assert below == ["2: 0.5 away"]


def test_a_table_that_is_too_wide_goes_on_below_and_breaks_no_word():
    rows = [row("walked", "", deflection_error_rad=0.1 * k, estimated_com_m=k, case="hips differ") for k in (1, 2)]
    assert [line.split() for line in printed(rows, width=44).splitlines()] == [
        ["case", "hips", "differ"],
        ["deflection_error_rad", "estimated_com_m"],
        ["1", "0.1", "1"],
        ["2", "0.2", "2"],
        ["paper", "force", "[N]", "outcome"],
        ["1", "1", "1", "walked"],
        ["2", "1", "1", "walked"],
    ]


def test_values_common_to_all_rows_are_printed_once():
    assert printed([row("met", "", k=1, gain=7.0), row("met", "", k=2, gain=7.0)]).splitlines()[0] == "gain 7"
