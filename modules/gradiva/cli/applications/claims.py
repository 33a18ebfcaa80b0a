"""Which applications run on this machine, and what earlier runs have left."""

from __future__ import annotations

import threading
from pathlib import Path

from gradiva.cli.applications.name_service import end_name_service, network
from gradiva.cli.yarp.failures import say
from gradiva.middleware import current_settings
from gradiva.yarp_modules.application.application_network import ApplicationNetwork
from gradiva.yarp_modules.application.leftovers import end_marked, end_modules, forget_ports
from gradiva.yarp_modules.application.process_end import Patience
from gradiva.yarp_modules.application.run_claim import RunClaim, claims_below, records_folder


def claim_of(application: str) -> RunClaim:
    """Return the claim of an application."""
    return RunClaim(_records(), application)


def all_claims() -> list[RunClaim]:
    """Return the claims of the applications that run, or have left something, on this YARP network."""
    return claims_below(_records())


def _records() -> Path:
    return records_folder(current_settings().namespace)


def remove_leftovers(claim: RunClaim, hurry: threading.Event) -> bool:
    """End what a killed runner has left, if there is anything; return whether nothing is left now.

    The claim must be held: a runner that lives looks after its processes itself.
    """
    record = claim.read()
    if record is None:
        return True
    if not record.origin.is_here:
        say(f"error: {record.application} was left behind on {record.origin.host}: gradiva app stop there")
        return False
    patience, asked = Patience(), ApplicationNetwork()
    with network():
        titles = end_modules(record, asked, patience, hurry)
        immortal = end_marked(record.mark, patience, hurry)
        ports = forget_ports(record.ports_before, asked) if record.ports_before else []
    end_name_service(record.mark)
    ended = ", ".join(titles) or "nothing"
    say(f"{record.application}: its runner was killed; ended {ended}, forgot {len(ports)} ports")
    if immortal:
        say(f"error: processes {', '.join(map(str, immortal))} of {record.application} do not end")
        return False
    claim.clear()
    return True
