"""Shows the robot in the browser while it walks, and the replay when it has walked."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console

from gradiva.common import Side
from gradiva.experiments import SimulatedWalk
from gradiva.planner import WalkingPlan
from gradiva.robot_model import RobotDescription
from gradiva.telemetry import Footprint, RobotView, SignalLog, footprints
from gradiva.telemetry.replay import Motion, Replay
from gradiva.telemetry.walk_record import WalkRecord

_FRAME = 1.0 / 30.0  # [s]
_OPENING = 20.0  # [s] that the walk waits for the page to be opened
_RELOADING = 5.0  # [s] without a page until the replay ends: a page that is loaded again is back before


class LiveView:
    """Shows the simulated robot about thirty times a second and keeps the simulation to real time.

    Use it in a ``with`` statement; called after each tick. When the walk has ended, `replay` turns the page into
    its replay.
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
        self._console.print(f"view    {self._view.url} (the walk waits {_OPENING:.0f} s for the page to be opened)")
        self._wait_for_page(_OPENING)
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
            shift = (truth.base_position - state.base_position)[:2]  # the points keep their place under the robot
            points |= {"dcm": state.dcm_position + shift, "zmp": state.zmp_position + shift}
        forces = {side: (truth.foot_position(side), truth.foot_wrench(side)[:3]) for side in Side}
        pose = truth.base_position, truth.base_rotation, truth.joint_positions
        self._view.show(*pose, points, forces, walk.time)
        ahead = (walk.time - self._start) - (time.monotonic() - self._wall_start)
        if ahead > 0.0:
            time.sleep(ahead)

    def replay(self, log: SignalLog) -> None:
        """Replay the walk on the same page until it is closed, or Ctrl-C; at once at an end where none is open."""
        if not len(log) or not self._wait_for_page(0.0):
            return
        self._view.footprints(footprints(log))
        player = Replay(self._view, Motion.read(WalkRecord(log, self._robot.joints), self._robot, 1.0 / _FRAME))
        self._console.print(f"replay  {self._view.url}: the page replays the walk until you close it or press Ctrl-C")
        try:
            player.play(lambda: self._wait_for_page(_RELOADING))
        except KeyboardInterrupt:
            self._console.print()

    def _wait_for_page(self, timeout: float) -> bool:
        """Wait until a page is open; tell whether one is after ``timeout`` [s]."""
        end = time.monotonic() + timeout
        while not self._view.server.get_clients() and time.monotonic() < end:
            time.sleep(0.1)
        return bool(self._view.server.get_clients())


def planned_footprints(plan: WalkingPlan) -> list[Footprint]:
    """Return where the feet will stand, the start included."""
    start = plan.at(plan.start_time)
    prints = [Footprint(side, start.foot(side).position, 0.0, plan.start_time) for side in Side]
    for step in plan.steps:
        pose = step.footstep.pose
        prints.append(Footprint(step.footstep.side, np.array([pose.x, pose.y, 0.0]), pose.yaw, step.touch_down))
    return prints
