"""What the messages of a control tick cost, written and read, without a network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from gradiva.experiments.timing import benchmark_row, durations
from gradiva.middleware import (
    CommandKind,
    JointData,
    JointDataMessage,
    MeasurementsReader,
    SensorClass,
    SensorMeasurement,
    StreamedCommand,
    WireFamily,
    joint_data_in,
    measurements_messages,
    measurements_to_items,
    numbers_of,
    sizes_of,
    values_messages,
)

_CALLS = 2000
_JOINTS = 16  # of a part: an arm with its hand
_SIGNALS, _ELEMENTS = 40, 6  # of a logged tick
_FAMILY = WireFamily.YARP_3


def message_rows() -> list[dict[str, Any]]:
    """Return rows of the benchmark: the state of a board, its set-points, a server's sensors, a logged tick."""
    timed: dict[str, Callable[[], object]] = {**_of_boards(), **_of_sensors(), "yarp.signals/written": _signals()}
    return [benchmark_row(name, durations(repeat(call, _CALLS))) for name, call in timed.items()]


def _of_boards() -> dict[str, Callable[[], object]]:
    state = JointData.of(np.linspace(0.0, 1.0, _JOINTS))
    written = JointDataMessage(state, _FAMILY).to_wire(_FAMILY)
    command = StreamedCommand(CommandKind.POSITION_DIRECT, None, tuple(state.joint_position.tolist()))
    return {
        "yarp.state/written": lambda: JointDataMessage(state, _FAMILY).to_wire(_FAMILY),
        "yarp.state/read": partial(joint_data_in, written, _FAMILY),
        "yarp.set_points/written": lambda: command.message(_FAMILY).to_wire(_FAMILY),
    }


def _of_sensors() -> dict[str, Callable[[], object]]:
    told = {SensorClass.FORCE_TORQUE: [SensorMeasurement((1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 0.5)] * 2}
    messages, reader = measurements_messages(sizes_of(told)), MeasurementsReader()
    written = messages.message(numbers_of(told)).to_wire(_FAMILY)
    reader.from_items(measurements_to_items(told))
    return {
        "yarp.sensors/written": lambda: messages.message(numbers_of(told)).to_wire(_FAMILY),
        "yarp.sensors/read": partial(reader.usual, written, _FAMILY),
    }


def _signals() -> Callable[[], object]:
    messages = values_messages([(f"group::signal_{number:02}", _ELEMENTS) for number in range(_SIGNALS)], 0)
    return partial(messages.encoded, [0.5] * (_SIGNALS * _ELEMENTS), _FAMILY)
