"""Functions that an engine calls instead of a walk, in milliseconds."""

import os
import tempfile
import time


def troubled(number):
    """Dies at 3, raises at 5, hangs at 7."""
    if number == 3:
        os.abort()
    if number == 5:
        raise ValueError("five")
    if number == 7:
        time.sleep(60.0)
    return {"process": os.getpid(), "double": 2 * number}


def cyclic(number):
    """Leaves 20 MB in a cycle, which counting references does not free."""
    cycle = [bytearray(b"x") * 20_000_000]
    cycle.append(cycle)
    return number


def temporary(number):
    """Leaves a temporary folder; its path."""
    return tempfile.mkdtemp()


def walk(options):
    """Falls with odd seeds above 0.25 m/s, and raises with seed 13."""
    time.sleep(0.004 * options["duration"])
    if options["seed"] == 13:
        raise ValueError("a bad seed")
    fell = options["speed"] > 0.25 and options["seed"] % 2
    error = 0.01 * options["speed"] + 1e-4 * options["seed"]
    return {
        "outcome": "fell" if fell else "walked",
        "reason": "fell at 3.00 s" if fell else "done",
        "cause": "speed" if fell else "",
        "dcm_error_m.max": error,
        "process": os.getpid(),
    }


WALK = f"{__name__}:walk"
TROUBLED = f"{__name__}:troubled"
CYCLIC = f"{__name__}:cyclic"
TEMPORARY = f"{__name__}:temporary"
