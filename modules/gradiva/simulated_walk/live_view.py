"""Shows a simulated walk in the browser while it goes on, and its replay when it has ended."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from gradiva.common import NDArray, PlanarPose, RobotState, Side
from gradiva.planner import WalkingPlan
from gradiva.setup import Setup
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulation import SimulatedState
from gradiva.telemetry import (
    Footprint,
    Motion,
    Replay,
    RobotView,
    SignalLog,
    WalkRecord,
    footprints,
    nominal_footprints,
)

_FRAME = 1.0 / 30.0  # [s]
_OPENING = 20.0  # [s] that the walk waits for the page to be opened
_RELOADING = 5.0  # [s] without a page until the replay ends: a page that is loaded again is back before


class LiveView:
    """Shows the simulated robot about thirty times a second and keeps the simulation to real time.

    Use it in a ``with`` statement; called after each tick. When the walk has ended, `replay` turns the page into
    its replay.
    """

    def __init__(self, setup: Setup, plan: WalkingPlan, start: float, say: Callable[[str], object] = print) -> None:
        """Remember robot, plan and clock.

        Args:
            setup: Of the walk: its robot is shown as it is simulated.
            plan: Its footsteps are shown.
            start: Simulated time at which the view begins, [s].
            say: Takes the lines that say where the page is.
        """
        self._setup, self._say = setup, say
        self._footholds = ShownFootholds(plan)
        self._shown = self._start = start

    def __enter__(self) -> LiveView:
        self._view = RobotView(self._setup.simulated_robot)
        self._view.footprints(self._footholds.footprints)
        self._say(f"view    {self._view.url} (the walk waits {_OPENING:.0f} s for the page to be opened)")
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
        if self._footholds.update(walk):
            self._view.footprints(self._footholds.footprints, self._footholds.nominal)
        truth = walk.robot.truth()
        points = {"com": truth.com_position}
        if walk.log is not None and (state := walk.log.robot_state) is not None:
            shift = odometry_shift(truth, state)
            points |= {"dcm": state.dcm_position + shift, "zmp": state.zmp_position + shift}
        forces = {side: (truth.foot_position(side), truth.foot_wrench(side)[:3]) for side in Side}
        pose = truth.base_position, truth.base_rotation, truth.all_joint_positions
        self._view.show(*pose, points, forces, walk.time)
        ahead = (walk.time - self._start) - (time.monotonic() - self._wall_start)
        if ahead > 0.0:
            time.sleep(ahead)

    def replay(self, log: SignalLog) -> None:
        """Replay the walk on the same page until it is closed, or Ctrl-C; at once at an end where none is open."""
        if not len(log) or not self._wait_for_page(0.0):
            return
        self._view.footprints(footprints(log), nominal_footprints(log))
        record, robot = WalkRecord(log, self._setup.robot.joints), self._setup.simulated_robot
        player = Replay(self._view, Motion.read(record, robot, 1.0 / _FRAME))
        self._say(f"replay  {self._view.url}: the page replays the walk until you close it or press Ctrl-C")
        try:
            player.play(lambda: self._wait_for_page(_RELOADING))
        except KeyboardInterrupt:
            self._say("")

    def _wait_for_page(self, timeout: float) -> bool:
        """Wait until a page is open; return whether one is after ``timeout`` [s]."""
        end = time.monotonic() + timeout
        while not self._view.server.get_clients() and time.monotonic() < end:
            time.sleep(0.1)
        return bool(self._view.server.get_clients())


class ShownFootholds:
    """Collects the footholds of the plans of a walk, and those of them that step adaptation moved.

    Attributes:
        footprints: Where the feet stood, stand and will stand, the first ones first.
    """

    def __init__(self, plan: WalkingPlan | None = None) -> None:
        """Begin with the footholds of a plan of a clock that starts with the walk, or with none."""
        self._plan, self._follows_plan = plan, False
        self.footprints = [] if plan is None else planned_footprints(plan)
        self._nominal = dict[tuple[Side, PlanarPose], Footprint]()

    @property
    def nominal(self) -> list[Footprint]:
        """Footholds before step adaptation moved them."""
        return list(self._nominal.values())

    def update(self, walk: SimulatedWalk) -> bool:
        """Take the footholds of a plan that has changed; return whether it has."""
        plan, stepping = walk.controller.plan, walk.log.stepping if walk.log else None
        if plan is None or plan is self._plan or not plan.steps:
            return False
        stood = [one for one in self.footprints if one.time <= walk.time] if self._follows_plan else []
        coming = planned_footprints(plan)
        self.footprints = [*stood, *(one for one in coming if one.time > walk.time)] if stood else coming
        self._plan, self._follows_plan = plan, True
        if stepping is not None and stepping.side is not None and stepping.nominal is not None:
            nominal = stepping.nominal
            position = np.array([nominal.x, nominal.y, 0.0])
            self._nominal[stepping.side, nominal] = Footprint(stepping.side, position, nominal.yaw, walk.time)
        return True


def odometry_shift(truth: SimulatedState, state: RobotState) -> NDArray:
    """Return from where the robot takes itself to be to where it is, world, [m], shape (2,).

    Points of the estimate keep their place under the shown robot by it.
    """
    return (truth.base_position - state.base_position)[:2]


def planned_footprints(plan: WalkingPlan) -> list[Footprint]:
    """Return where the feet will stand, the start included."""
    start = plan.at(plan.start_time)
    prints = [Footprint(side, start.foot(side).position, 0.0, plan.start_time) for side in Side]
    for step in plan.steps:
        pose = step.footstep.pose
        prints.append(Footprint(step.footstep.side, np.array([pose.x, pose.y, 0.0]), pose.yaw, step.touch_down))
    return prints
