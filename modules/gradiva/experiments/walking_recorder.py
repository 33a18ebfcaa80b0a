"""Turns the controller's logs and the simulator's truth into named signals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy.typing as npt

from gradiva.common import Measurement, Side, so3
from gradiva.simulation import SimulatedState
from gradiva.telemetry import SignalLog
from gradiva.walking import WalkingLog, WalkingState, element_names, walking_signals

_ROUNDING = 1e-9  # [s] times are sums of periods
_PERIOD = 0.007  # [s] recording each fast tick takes longer than control; prime to the predictive law's 10 ms


class WalkingRecorder:
    """Records the ticks of the balancing robot, at most 143 a second.

    Attributes:
        log: The signals.
        standing: What was measured before the robot balanced, when nothing else is known of it.
    """

    def __init__(self, joints: tuple[str, ...]) -> None:
        self.log = SignalLog()
        self._joints = joints
        self.standing: list[Measurement] = []
        self._due = 0.0
        for name in ("positions::measured", "positions::desired", "positions::command"):
            self.log.describe(f"joints_state::{name}", joints, "rad")
        for name in ("velocities::measured", "velocities::desired", "velocities::command"):
            self.log.describe(f"joints_state::{name}", joints, "rad/s")
        for name in ("torques::measured", "torques::command"):
            self.log.describe(f"joints_state::{name}", joints, "N m")
        self.log.describe("simulation::joint_positions", joints, "rad")

    def wants(self, log: WalkingLog) -> bool:
        """Tell whether to record a tick: one in which the control loop ran, some time after the last."""
        return log.desired is not None and log.time >= self._due

    def record_standing(self, log: WalkingLog, measurement: Measurement) -> None:
        """Keep what is measured in a tick in which the robot is prepared and does not balance yet."""
        if log.state is WalkingState.PREPARING and log.time >= self._due:
            self.standing.append(measurement)
            self._pass(log.time)

    def record(
        self,
        log: WalkingLog,
        measurement: Measurement,
        truth: SimulatedState,
        more: Mapping[str, float],
        laps: Mapping[str, float],
    ) -> None:
        """Append one tick of the control loop.

        Args:
            log: Of the controller.
            measurement: What it saw.
            truth: Of the simulator.
            more: Beside them: ``ground_signals``, ``sole_signals``, ``torque_signals``.
            laps: How long the parts of the tick took, [µs].
        """
        is_first = not len(self.log)
        self.log.append(log.time, {**_signals(log, measurement, truth, laps), **more})
        if is_first:
            self._name_elements()
        self._pass(log.time)

    def _pass(self, time: float) -> None:
        self._due = time + _PERIOD - _ROUNDING

    def _name_elements(self) -> None:
        """Name the elements of the signals that are not described yet; units are SI."""
        for name in self.log:
            if not self.log.info(name).unit.strip("-"):
                self.log.describe(name, element_names(name, self._joints))


def _signals(
    log: WalkingLog, measurement: Measurement, truth: SimulatedState, laps: Mapping[str, float]
) -> dict[str, float | npt.ArrayLike]:
    signals = walking_signals(log, measurement)
    signals["simulation::root_link::position"] = truth.base_position
    signals["simulation::root_link::orientation"] = so3.roll_pitch_yaw(truth.base_rotation)
    signals["simulation::joint_positions"] = truth.joint_positions
    signals["simulation::com::position"] = truth.com_position
    for side in Side:
        signals[f"simulation::{side}_foot::position"] = truth.foot_position(side)
        signals[f"simulation::{side}_foot::orientation"] = so3.roll_pitch_yaw(truth.foot_rotation(side))
    for part, duration in laps.items():
        signals[f"tick::{part}"] = duration
    return signals
