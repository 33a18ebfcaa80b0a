from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError, so3
from gradiva.walking.safety import SafetyConfig, SafetyMonitor

CONFIG = SafetyConfig(max_tilt=0.6, max_dcm_error=0.4, max_failed_ticks=5, max_relaxed_ticks=20)


def objection(tilt=0.0, dcm_error=0.0, lean=0.0):
    state = SimpleNamespace(base_rotation=so3.exp(np.array([0.0, tilt, 0.0])), dcm_position=np.array([dcm_error, 0.0]))
    reference = SimpleNamespace(dcm=SimpleNamespace(position=np.zeros(2)))
    return SafetyMonitor(CONFIG, so3.exp(np.array([0.0, lean, 0.0]))).objection(state, reference)


def test_a_healthy_walk_meets_no_objection():
    assert objection(tilt=0.59, dcm_error=0.39) is None


def test_the_tilt_counts_from_a_start_posture_that_leans():
    assert objection(tilt=0.8, lean=0.3) is None
    assert objection(tilt=-0.35, lean=0.3) == "the base is tilted by 37°, the limit is 34°"


def test_objections_say_what_and_how_much():
    assert objection(tilt=0.7) == "the base is tilted by 40°, the limit is 34°"
    assert objection(dcm_error=-0.5) == "the DCM is 50 cm off its reference, the limit is 40 cm"


@pytest.mark.parametrize("name", ["max_tilt", "max_dcm_error", "max_failed_ticks", "max_relaxed_ticks"])
def test_limits_must_be_positive(name):
    with pytest.raises(ConfigError, match=name):
        replace(CONFIG, **{name: 0})
