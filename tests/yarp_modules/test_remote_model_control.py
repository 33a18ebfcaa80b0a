"""Layer 2 in another process answers as if it were in this one, and may be killed and started again."""

from functools import partial

import numpy as np
import pytest

from gradiva.middleware import encode_list
from gradiva.planner import VelocityCommand, planned_polygon
from gradiva.setup import load_setup
from gradiva.simplified_model import BalancePlan, balance_layer
from gradiva.simulated_walk import plan_from_start
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.message_ports import MessageHeader
from gradiva.yarp_modules.remote_layers import model_control_fingerprint
from gradiva.yarp_modules.remote_model_control import (
    BalanceReply,
    BalanceRequest,
    ModelControlService,
    RemoteModelControl,
)
from gradiva.yarp_modules.walking_module import solver_status
from tests.yarp_modules.made_up_state import state_near

PERIOD = 0.01
SETUP = load_setup("icub_v2_7")
PLAN = plan_from_start(SETUP, VelocityCommand(0.19, duration=3.0))
CODEC = MessageCodec()


class DirectLine:
    """Stands for both ports: what is asked is answered at once, over the bytes of a Bottle, as long as `is_up`."""

    def __init__(self, service):
        self.service = service
        self.is_up = self.has_readers = self.has_source = True
        self.replies = []

    def write(self, request):
        self.session = request.header.session
        if self.is_up:
            arrived = CODEC.unpack(CODEC.pack(request), BalanceRequest)
            self.replies.append(CODEC.unpack(CODEC.pack(self.service.answer(arrived)), BalanceReply))
            self.service._model_control.work_ahead()

    def take(self, timeout):
        return self.replies.pop(0) if self.replies else None

    def report(self):
        return []


def service_of(setup):
    return ModelControlService(
        balance_layer(setup.walking.balance, setup.robot), model_control_fingerprint(setup.robot, setup.walking)
    )


def remote_on(line, setup=SETUP, timeout=0.001):
    fingerprint = model_control_fingerprint(setup.robot, setup.walking)
    return RemoteModelControl(setup.walking.balance, fingerprint, (line, line), timeout, max_silent_ticks=3)


def update(control, tick, setup=SETUP):
    reference = PLAN.at(tick * PERIOD)
    state = state_near(reference, len(setup.robot.joints), tick)
    polygon = planned_polygon(reference, setup.robot.sole)
    preview = lambda period, count: PLAN.preview(reference.time, period, count)  # noqa: E731
    plan = BalancePlan(
        reference,
        polygon,
        preview,
        np.full(2, 0.001),
        partial(PLAN.contacts, reference.time),
        partial(PLAN.dcm_ahead, reference.time),
    )
    return control.update(state, plan, reference.time, PERIOD)


def assert_same(one, other):
    np.testing.assert_array_equal(one.zmp_position, other.zmp_position)
    np.testing.assert_array_equal(one.com_position, other.com_position)
    np.testing.assert_array_equal(one.com_velocity, other.com_velocity)


def test_an_exception_of_layer_2_is_answered_at_once_and_the_fallback_balances(monkeypatch):
    def stumble(*_):
        raise ZeroDivisionError("period")

    line = DirectLine(service_of(SETUP))
    monkeypatch.setattr(line.service._model_control, "update", stumble)
    control = remote_on(line)
    assert np.isfinite(update(control, 0).com_velocity).all()
    assert control.record.refused == 1
    assert line.service.refused == 1


@pytest.mark.parametrize("model", ["dcm", "dcm_mpc", "centroidal_mpc"])
def test_the_answer_is_that_of_layer_2_in_this_process_to_the_last_digit(model):
    setup = load_setup("icub_v2_7", {"walking.model": model, "centroidal_walking.mpc.deadline": 60.0})
    remote, local = (
        remote_on(DirectLine(service_of(setup)), setup, 100.0),
        balance_layer(setup.walking.balance, setup.robot),
    )
    for tick in range(60):
        assert_same(update(remote, tick, setup), update(local, tick, setup))
    assert remote.fallback_ticks == 0


def test_a_request_carries_no_more_of_the_plan_than_the_law_reads():
    requests = {}
    for model in ("dcm", "dcm_mpc", "centroidal_mpc"):
        setup = load_setup("icub_v2_7", {"walking.model": model})
        line = DirectLine(service_of(setup))
        remote = remote_on(line, setup, 100.0)
        line.write = partial(requests.__setitem__, model)
        update(remote, 200, setup)
    assert [request.preview is None for request in requests.values()] == [True, False, True]
    assert [len(request.contacts) > 0 for request in requests.values()] == [False, False, True]
    assert [len(request.dcm_ahead) for request in requests.values()] == [0, 0, 91]
    sizes = {model: len(encode_list(CODEC.pack(request))) for model, request in requests.items()}
    assert sizes["centroidal_mpc"] < 2.0 * sizes["dcm"]


def test_an_mpc_that_takes_longer_than_the_tick_waits_decides_beside_it():
    setup = load_setup("icub_v2_7", {"walking.model": "centroidal_mpc", "centroidal_walking.mpc.deadline": 60.0})
    line = DirectLine(service_of(setup))
    remote, law = remote_on(line, setup), line.service._model_control.law
    instantaneous = balance_layer(SETUP.walking.balance, SETUP.robot)
    zmp_position = update(instantaneous, 0).zmp_position  # until there is a solution
    np.testing.assert_allclose(update(remote, 0, setup).zmp_position, zmp_position, atol=1e-12)
    assert law.solution is None
    for tick in range(1, 40):
        if law.running is not None:
            law.running.result()
        update(remote, tick, setup)
        assert law.solution.times[0] > (tick - 4) * PERIOD
    assert remote.fallback_ticks == 0
    line.is_up, solution = False, law.solution
    law.give_up()
    update(remote, 40, setup)  # not heard: the next request comes with the memory before
    line.is_up = True
    update(remote, 41, setup)
    assert law.solution is solution
    assert law.running is not None
    line.service = service_of(setup)  # started again: from the memory that comes with the request
    law.give_up()
    update(remote, 42, setup)
    np.testing.assert_array_equal(line.service._model_control.law.memory.state, law.memory.state)


def test_an_mpc_that_went_on_from_a_memory_goes_on_when_its_first_answer_is_not_heard():
    setup = load_setup("icub_v2_7", {"walking.model": "centroidal_mpc", "centroidal_walking.mpc.deadline": 60.0})
    line = DirectLine(service_of(setup))
    remote = remote_on(line, setup, 100.0)
    update(remote, 0, setup)
    line.service, remote._timeout = service_of(setup), 0.001
    take, line.take = line.take, lambda _: None
    update(remote, 2, setup)
    line.take = take
    line.replies.clear()
    law = line.service._model_control.law
    found = law.running.result()
    update(remote, 3, setup)  # with the memory of the first service again
    assert law.solution is found.solution


def test_without_an_answer_the_stand_in_goes_on_as_layer_2_would():
    line = DirectLine(service_of(SETUP))
    remote, local = remote_on(line), balance_layer(SETUP.walking.balance, SETUP.robot)
    for tick in range(60):
        line.is_up = tick % 7 > 1
        assert_same(update(remote, tick), update(local, tick))
    assert remote.fallback_ticks == 18
    assert remote.warning == ""


def test_too_many_ticks_without_an_answer_are_a_finding_until_it_is_back():
    line = DirectLine(service_of(SETUP))
    remote, local = remote_on(line), balance_layer(SETUP.walking.balance, SETUP.robot)
    for tick in range(30):
        line.is_up = not 10 <= tick < 20
        if tick == 20:
            line.service = service_of(SETUP)  # started again
        assert_same(update(remote, tick), update(local, tick))
        assert bool(remote.warning) == (13 <= tick < 20)
        assert remote.is_answering == (not 13 <= tick < 20)
        if remote.warning:
            assert "it did not answer in time" in remote.warning


def test_a_reply_that_comes_too_late_is_counted_and_left():
    line = DirectLine(service_of(SETUP))
    remote, local = remote_on(line), balance_layer(SETUP.walking.balance, SETUP.robot)
    assert_same(update(remote, 0), update(local, 0))
    line.is_up = False
    assert_same(update(remote, 1), update(local, 1))
    line.replies.append(BalanceReply(MessageHeader(line.session, 2, 0.0), None, None, 0))
    line.is_up = True
    assert_same(update(remote, 2), update(local, 2))
    assert remote.record.late == 1


class SlowLine(DirectLine):
    """Hands an answer out in its own tick only to who waits for it, else in the next one."""

    def take(self, timeout):
        return super().take(timeout) if timeout > 0.0 or len(self.replies) > 1 else None


def test_after_a_silence_the_first_late_answer_makes_ticks_wait_again():
    line = SlowLine(service_of(SETUP))
    remote, local = remote_on(line), balance_layer(SETUP.walking.balance, SETUP.robot)
    for tick in range(24):
        line.is_up = not 5 <= tick < 15
        assert_same(update(remote, tick), update(local, tick))
    assert (remote.warning, remote.is_answering) == ("", True)
    assert remote.fallback_ticks == 12


def test_a_model_control_that_is_configured_otherwise_is_not_obeyed():
    other = load_setup("icub_v2_7", {"dcm_controller.proportional_gain": 1.7})
    remote, local = remote_on(DirectLine(service_of(other))), balance_layer(SETUP.walking.balance, SETUP.robot)
    for tick in range(5):
        assert_same(update(remote, tick), update(local, tick))
    assert "configured otherwise" in remote.warning
    assert remote.record.refused == 5


def test_answers_of_another_version_are_a_finding_with_that_reason():
    line = DirectLine(service_of(SETUP))
    remote = remote_on(line)
    line.is_up = False
    for tick in range(5):
        line.on_malformed(MessageHeader(line.session if tick else 0, tick, 0.0), "BalanceReply has 5 fields, got 4")
        update(remote, tick)
    assert "its answer is refused: BalanceReply has 5 fields, got 4" in remote.warning
    line.is_up = True
    update(remote, 5)
    assert remote.warning == ""


def test_reset_begins_again():
    remote, local = remote_on(DirectLine(service_of(SETUP))), balance_layer(SETUP.walking.balance, SETUP.robot)
    for tick in range(20):
        update(remote, tick)
    remote.reset()
    assert_same(update(remote, 30), update(local, 30))


def test_the_exchange_is_reported_as_pairs():
    remote = remote_on(DirectLine(service_of(SETUP)))
    update(remote, 0)
    report = dict(map(tuple, remote.report()))
    assert (report["asked"], report["answered"], report["missed"]) == (1, 1, 0)
    assert 0.0 < report["round_trip_median_us"] == report["round_trip_p99_us"]


def test_the_status_counts_the_decisions_of_an_mpc_and_of_no_other_law():
    setup = load_setup("icub_v3", {"walking.model": "centroidal_mpc"})
    layer = balance_layer(setup.walking.balance, setup.robot)
    layer.solver_times.note(0.003, 0.01, is_fallback=False)
    ((name, pairs),) = solver_status(layer)
    assert name == "mpc"
    assert dict(pairs) | {"decisions": 1, "fallbacks": 0, "late_decisions": 0, "solve_p99_ms": 3.0} == dict(pairs)
    assert solver_status(balance_layer(SETUP.walking.balance, SETUP.robot)) == []
