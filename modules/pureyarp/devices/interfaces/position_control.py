"""Motion along the trajectories that the board makes itself."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.api_arguments import fill, group
from pureyarp.devices.interfaces.moving_view import MovingView


class IPositionControl(MovingView):
    """Targets [deg] reached along trajectories of given velocity [deg/s] and acceleration [deg/s^2].

    ``data`` holds one value for each joint; ``(joint, …)`` means one joint, ``(number, joints, data)`` a group.
    """

    def positionMove(self, *arguments: Any) -> bool:
        """Go to ``(joint, target)``, ``(targets)`` or ``(number, joints, targets)`` [deg]."""
        return self._order(Feature.TARGET_POSITION, *arguments)

    def relativeMove(self, *arguments: Any) -> bool:
        """Go on by ``(joint, way)``, ``(ways)`` or ``(number, joints, ways)`` [deg]."""
        return self._order(Feature.RELATIVE_POSITION, *arguments)

    def checkMotionDone(self, *arguments: Any) -> bool:
        """Fill ``(flag)``, ``(joint, flag)`` or ``(number, joints, flag)`` with whether the target is reached.

        Without argument the answer itself is returned, and True when there is none.
        """
        if not arguments:
            done = self._done(None)
            return True if done is None else done
        of = None if len(arguments) == 1 else int(arguments[0])
        if len(arguments) == 3:
            return self._fill_flag(self._done(group(arguments[0], arguments[1])), arguments[2])
        return self._fill_flag(self._done(of), arguments[-1])

    def isMotionDone(self, *arguments: int) -> bool:
        """Tell whether ``(joint)`` or all joints have reached their targets."""
        joints = [int(arguments[0])] if arguments else list(range(self.getAxes()))
        done = [self._done(joint) for joint in joints]  # all are asked, as the real bindings do
        return all(done)

    def setRefSpeed(self, j: int, sp: float) -> bool:
        """Set the velocity of a joint's trajectories [deg/s]."""
        return self._order(Feature.TRAJECTORY_SPEED, j, sp)

    def setRefSpeeds(self, *arguments: Any) -> bool:
        """Set ``(speeds)`` or ``(number, joints, speeds)`` of trajectories [deg/s]."""
        return self._order(Feature.TRAJECTORY_SPEED, *arguments)

    def getRefSpeed(self, j: int, data: Any) -> bool:
        """Fill with the velocity of a joint's trajectories [deg/s]."""
        return self._read(Feature.TRAJECTORY_SPEED, j, data)

    def getRefSpeeds(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with velocities of trajectories [deg/s]."""
        return self._read(Feature.TRAJECTORY_SPEED, *arguments)

    def getTargetPosition(self, j: int, data: Any) -> bool:
        """Fill with the target of a joint [deg]."""
        return self._read(Feature.TARGET_POSITION, j, data)

    def getTargetPositions(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with targets [deg]."""
        return self._read(Feature.TARGET_POSITION, *arguments)

    def _done(self, of: int | tuple[int, ...] | None) -> bool | None:
        answer = self._board.ask(Feature.MOTION_DONE, of)
        return bool(answer[0]) if answer else None

    @staticmethod
    def _fill_flag(done: bool | None, flag: Any) -> bool:
        return done is not None and fill(flag, [done])
