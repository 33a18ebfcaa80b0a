from types import SimpleNamespace

import numpy as np
import pytest
from gradiva.simplified_model.model_control import DcmSituation, HeldLaw

from gradiva.common import DcmReference
from gradiva.contacts import SupportPolygon

SQUARE = SupportPolygon([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def situation(reference_zmp, dcm, period=0.001):
    reference = DcmReference(np.array([reference_zmp, 0.0]), np.zeros(2), 4.3, 4.3, np.zeros(2))
    return DcmSituation(np.array([dcm, 0.0]), reference, SQUARE, lambda period, count: None, period)


class Proportional:
    """A law that notes how often it was asked, and for how long."""

    def __init__(self):
        self.periods, self.failures, self.memory, self.was_reset = [], 3, SimpleNamespace(), 0

    def zmp(self, here):
        self.periods.append(here.period)
        return here.reference.zmp_position + 2.0 * (here.dcm_position - here.reference.position)

    def reset(self):
        self.was_reset += 1

    def resume(self, memory):
        self.memory = memory


def test_the_correction_holds_while_the_reference_moves_on():
    inner = Proportional()
    law = HeldLaw(inner, 0.005)
    zmps = [law.zmp(situation(0.01 * tick, 0.01 * tick + 0.1 + tick))[0] for tick in range(4)]
    np.testing.assert_allclose(zmps, [0.2, 0.21, 0.22, 0.23])
    assert inner.periods == [0.005]


def test_it_decides_anew_after_its_period():
    inner = Proportional()
    law = HeldLaw(inner, 0.005)
    for _ in range(11):
        law.zmp(situation(0.0, 0.1))
    assert inner.periods == [0.005] * 3


def test_a_slower_tick_asks_every_time():
    inner = Proportional()
    law = HeldLaw(inner, 0.005)
    assert [law.zmp(situation(0.0, dcm, 0.01))[0] for dcm in (0.1, 0.2)] == pytest.approx([0.2, 0.4])
    assert inner.periods == [0.01, 0.01]


def test_what_it_answers_is_inside_the_polygon():
    law = HeldLaw(Proportional(), 0.005)
    law.zmp(situation(0.0, 0.4))
    np.testing.assert_allclose(law.zmp(situation(0.5, 0.5)), [1.0, 0.0])


@pytest.mark.parametrize("begin_again", [lambda law: law.reset(), lambda law: law.resume(SimpleNamespace())])
def test_whoever_begins_again_decides_at_once(begin_again):
    inner = Proportional()
    law = HeldLaw(inner, 0.005)
    law.zmp(situation(0.0, 0.1))
    begin_again(law)
    np.testing.assert_allclose(law.zmp(situation(0.0, 0.3)), [0.6, 0.0])
    assert (law.failures, inner.was_reset > 0) == (3, True)
