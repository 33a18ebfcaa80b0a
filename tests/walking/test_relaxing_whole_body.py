import pytest

from gradiva.common import NoSolutionFound
from gradiva.walking import SafetyKind
from gradiva.walking.relaxing_whole_body import RelaxingWholeBody

PERIOD = 0.001  # [s]


class Contradicted:
    """A layer 3 whose references contradict each other while it is told so."""

    def __init__(self):
        self.is_contradicted = True

    def command(self, state, body, period, relaxed=False):
        if self.is_contradicted and not relaxed:
            raise NoSolutionFound("torque control", "infeasible", "centre of mass")
        return "relaxed" if relaxed else "exact"


def test_contradictions_are_borne_for_a_while_and_then_told_with_the_task_that_is_to_blame():
    layer = RelaxingWholeBody(Contradicted(), relaxed_duration=0.003)
    assert [layer.command(None, None, PERIOD) for _ in range(3)] == ["relaxed"] * 3
    with pytest.raises(NoSolutionFound) as caught:
        layer.command(None, None, PERIOD)
    assert caught.value.task == "centre of mass"
    assert layer.failures == 4


def test_a_relaxed_tick_tells_at_once_which_task_it_is_for_and_the_next_good_one_tells_nothing():
    controller = Contradicted()
    layer = RelaxingWholeBody(controller, relaxed_duration=1.0)
    layer.command(None, None, PERIOD)
    (finding,) = layer.findings
    assert (finding.kind, finding.subject) == (SafetyKind.RELAXED, "centre of mass")
    assert finding.text.startswith("relaxed, torque control: the solver answered 'infeasible'")
    controller.is_contradicted = False
    layer.command(None, None, PERIOD)
    assert layer.findings == ()
    assert layer.contradiction is None


def test_a_tick_that_goes_well_makes_it_patient_again():
    controller = Contradicted()
    layer = RelaxingWholeBody(controller, relaxed_duration=0.002)
    for _ in range(3):
        controller.is_contradicted = True
        assert [layer.command(None, None, PERIOD) for _ in range(2)] == ["relaxed"] * 2
        controller.is_contradicted = False
        assert layer.command(None, None, PERIOD) == "exact"
    assert layer.failures == 6
