"""The robot in the browser while it walks."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console

from gradiva.common import Side
from gradiva.experiments import SimulatedWalk
from gradiva.planner import WalkingPlan
from gradiva.robot_model import RobotDescription
from gradiva.telemetry import Footprint, RobotView

_FRAME = 1.0 / 30.0  # [s]
_PATIENCE = 20.0  # [s] the walk waits so long for somebody to look


class LiveView:
    """Shows the simulated robot about thirty times a second and keeps the simulation to real time.

    Use it in a ``with`` statement; called after each tick.
    """

    def __init__(self, robot: RobotDescription, plan: WalkingPlan, start: float, console: Console) -> None:
        """Take what to show.

        Args:
            robot: Its description.
            plan: Its footsteps are shown.
            start: Simulated time at which the view begins, [s].
            console: The address is printed there.
        """
        self._robot, self._plan, self._console = robot, plan, console
        self._shown = self._start = start

    def __enter__(self) -> LiveView:
        self._view = RobotView(self._robot)
        self._view.footprints(planned_footprints(self._plan))
        self._console.print(f"view    {self._view.url} (the walk waits {_PATIENCE:.0f} s for the page to be opened)")
        self._wait_for_somebody()
        self._wall_start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._view.close()

    def __call__(self, walk: SimulatedWalk) -> None:
        """Show the robot when a picture is due; wait when the simulation is ahead of the clock."""
        if walk.time - self._shown < _FRAME:
            return
        self._shown = walk.time
        truth, state = walk.robot.truth(), walk.log.robot_state if walk.log else None
        points = {"com": truth.com_position}
        if state is not None:
            shift = (truth.base_position - state.base_position)[:2]  # the drift is not theirs to show
            points |= {"dcm": state.dcm_position + shift, "zmp": state.zmp_position + shift}
        self._view.show(truth.base_position, truth.base_rotation, truth.joint_positions, points)
        ahead = (walk.time - self._start) - (time.monotonic() - self._wall_start)
        if ahead > 0.0:
            time.sleep(ahead)

    def _wait_for_somebody(self) -> None:
        end = time.monotonic() + _PATIENCE
        while not self._view.server.get_clients() and time.monotonic() < end:
            time.sleep(0.1)


def planned_footprints(plan: WalkingPlan) -> list[Footprint]:
    """Return where the feet will stand, the start included."""
    start = plan.at(plan.start_time)
    prints = [Footprint(side, start.foot(side).position, 0.0, plan.start_time) for side in Side]
    for step in plan.steps:
        pose = step.footstep.pose
        prints.append(Footprint(step.footstep.side, np.array([pose.x, pose.y, 0.0]), pose.yaw, step.touch_down))
    return prints
