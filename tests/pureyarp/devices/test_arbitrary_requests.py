"""Arbitrary requests are answered or refused, arbitrary messages read or malformed."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pureyarp.devices.control_board_device import Joints
from pureyarp.devices.control_board_messages import FIELDS, CommandKind, JointData, StreamedCommand, fields_of
from pureyarp.devices.thrift_dialect import METHODS, ThriftAnswers
from pureyarp.devices.vocab_dialect import NAMED, VocabAnswers
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily, encode_vocab
from tests.middleware.fake_board import IntegratingBoard

JOINTS = 3
UNHURRIED = settings(deadline=None, max_examples=60)
numbers = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(2**63), 2**63 - 1) | st.integers(-1, JOINTS)
words = st.sampled_from(sorted({word for key in NAMED for word in key if word} | {"get", "set", "pos", "cald", "ivar"}))
scalars = numbers | words | words.map(encode_vocab) | st.text(max_size=5) | st.binary(max_size=3)
elements = st.recursive(scalars, lambda children: st.lists(children, max_size=4), max_leaves=8)
plausible = st.tuples(st.sampled_from(["get", "set"]).map(encode_vocab), st.sampled_from(sorted(NAMED))).flatmap(
    lambda start: st.lists(elements, max_size=4).map(
        lambda rest: [start[0], *[encode_vocab(word) for word in start[1] if word], *rest]
    )
)
calls = st.sampled_from(sorted(METHODS)).flatmap(lambda name: st.lists(elements, max_size=4).map(lambda a: [name, *a]))


class CarefulBoard(IntegratingBoard):
    """A device that notes requests that it must never get."""

    def __init__(self) -> None:
        super().__init__(JOINTS)
        self.wrongs: list[str] = []

    def set_parameter(self, feature: Any, joints: Joints, values: Any, pid: Any) -> None:
        self._check(joints, values)
        super().set_parameter(feature, joints, values, pid)

    def move_to(self, joints: Joints, positions: Any) -> None:
        self._check(joints, positions)
        super().move_to(joints, positions)

    def stream(self, command: StreamedCommand) -> None:
        self._check(command.joints or (), command.values)
        super().stream(command)

    def _check(self, joints: Joints, values: Any) -> None:
        if min(joints, default=0) < 0 or not np.all(np.isfinite(np.array(values, dtype=float))):
            self.wrongs.append(f"told {values} for joints {joints}")


@pytest.fixture(scope="module", autouse=True)
def quiet():
    logging.getLogger("pureyarp").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("pureyarp").setLevel(logging.NOTSET)


@UNHURRIED
@given(request=st.lists(elements, max_size=6) | plausible)
def test_every_request_of_the_3_family_gets_an_answer_that_can_be_sent(request):
    device = CarefulBoard()
    reply = VocabAnswers(device, lambda: 1.0).answer(request)
    assert device.wrongs == []
    assert reply[-1] in {encode_vocab(word) for word in ("ok", "fail", "nak")}
    assert decode_list(encode_list(reply)).items == reply


@UNHURRIED
@given(request=st.lists(elements, max_size=5) | calls)
def test_every_request_of_the_4_family_gets_an_answer_that_can_be_sent(request):
    device = CarefulBoard()
    reply = ThriftAnswers(device).answer(request)
    assert device.wrongs == []
    assert decode_list(encode_list(reply, WireFamily.YARP_4), WireFamily.YARP_4).items == list(reply)


@UNHURRIED
@given(items=st.lists(elements, max_size=3))
def test_every_message_is_a_command_or_malformed(items):
    try:
        command = StreamedCommand.from_items(items)
    except MalformedMessage:
        return
    assert all(map(math.isfinite, command.values))


@UNHURRIED
@given(items=st.lists(elements, min_size=22, max_size=24))
def test_every_message_is_joint_data_or_malformed(items):
    try:
        data = JointData.from_items(items)
    except MalformedMessage:
        return
    assert {len(getattr(data, name)) for name in FIELDS} == {data.number_of_joints}


@UNHURRIED
@given(
    kind=st.sampled_from([kind for kind in CommandKind if kind not in (CommandKind.POSITION, CommandKind.PWM)]),
    joints=st.none() | st.lists(st.integers(0, 40), min_size=1, max_size=6, unique=True).map(tuple),
    seed=st.integers(0, 2**16),
)
def test_commands_survive_the_wire(kind, joints, seed):
    values = np.random.default_rng(seed).normal(size=4 if joints is None else len(joints))
    command = StreamedCommand(kind, joints, tuple(values.tolist()))
    family = WireFamily.YARP_4
    assert (
        StreamedCommand.from_items(decode_list(encode_list(command.to_items(family), family), family).items) == command
    )


@UNHURRIED
@given(
    family=st.sampled_from(WireFamily),
    joints=st.integers(0, 40),
    invalid=st.sets(st.sampled_from(FIELDS)),
    seed=st.integers(0, 2**16),
)
def test_joint_data_survives_the_wire(family, joints, invalid, seed):
    random = np.random.default_rng(seed)
    measured = {name: random.integers(-(2**31), 2**31, joints).astype(np.float32) for name in FIELDS}
    measured |= {name: random.integers(-(2**31), 2**31, joints) for name in ("control_modes", "interaction_modes")}
    data = JointData.of(**{name: value for name, value in measured.items() if name not in invalid - {"joint_position"}})
    again = JointData.from_items(decode_list(encode_list(data.to_items(family), family), family).items)
    for name in fields_of(family):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
        assert again.is_valid(name) == data.is_valid(name)
