"""``gradiva doctor``."""

from __future__ import annotations

from gradiva.cli.interrupts import leaving_at_once

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor() -> int:
    """Check that this machine has what Gradiva needs; exit status 1 if something essential is missing."""
    from rich.markup import escape

    with leaving_at_once():
        from gradiva.cli.checks import all_checks
        from gradiva.cli.output import console_for_people

    console = console_for_people()
    verdicts = []
    for check in all_checks():
        finding = check()
        verdicts.append(finding.verdict)
        remedy = f" → {finding.remedy}" if finding.remedy else ""
        colour = _COLOURS[finding.verdict]
        console.print(f"[{colour}]{finding.verdict:4}[/]  {escape(finding.text + remedy)}", soft_wrap=True)
    return 1 if "fail" in verdicts else 0
