import io

from rich.console import Console

from gradiva.cli.experiment import print_rows


def printed(rows):
    stream = io.StringIO()
    print_rows(Console(file=stream, width=100), rows, "force [N]")
    return stream.getvalue()


def row(outcome, reason, **inputs):
    return {**inputs, "paper": 1.0, "value": 1.0, "outcome": outcome, "reason": reason}


def test_only_reasons_that_say_something_stand_below_the_table():
    rows = [row("met", "", k=1), row("failed", "0.5 away", k=2), row("walked", "done", k=3)]
    below = printed(rows).splitlines()[4:]
    assert below == ["2: 0.5 away"]


def test_what_all_rows_share_is_told_once():
    assert printed([row("met", "", k=1, gain=7.0), row("met", "", k=2, gain=7.0)]).splitlines()[0] == "gain 7"
