"""What is measured of the machine beside streams between processes."""

import time

from gradiva_experiments.shipped.yarp_streams import machine_lateness


def test_the_machine_is_watched_for_as_long_as_something_is_measured():
    with machine_lateness(500.0) as machine:
        time.sleep(0.02)
    assert len(machine.lateness_us) >= 1
    assert 0.0 < machine.percentile(50.0) <= machine.percentile(100.0)
