"""Pushes: forces from outside on a link."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, ModelError, NDArray, nearest_name, so3
from gradiva.simulation.engine import mujoco
from gradiva.simulation.rigid_tree import RigidTree

TORSO = "torso"
"""Link of a push on the torso frame of the robot, whatever its model calls it."""
_AXES = (("forward", "backward"), ("to the left", "to the right"), ("up", "down"))
_ASIDE = 0.01  # [-] of a force: components up to this are none in words

_STRONGEST = 1e4  # [N, N·m] some thirty times the weight of a robot, with which the simulation does not diverge


@dataclass(frozen=True, slots=True)
class Push:
    """A constant force at the centre of mass of a link, and a torque.

    Attributes:
        link: Of the model; `TORSO` for the torso frame of any robot.
        force: World, [N].
        start: [s].
        duration: [s].
        torque: World, [N·m].
    """

    link: str
    force: tuple[float, float, float]
    start: float
    duration: float
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0.0 < self.duration < math.inf:
            raise ConfigError(f"push on '{self.link}': duration={self.duration} must be positive, and finite")
        if not 0.0 <= self.start < math.inf:
            raise ConfigError(f"push on '{self.link}': start={self.start} must be 0 s or later, and finite")
        for name, unit in (("force", "N"), ("torque", "N·m")):
            given = getattr(self, name)
            if np.shape(given) != (3,) or not np.linalg.norm(given) <= _STRONGEST:
                raise ConfigError(
                    f"push on '{self.link}': {name}={given}: expected x, y, z of at most {_STRONGEST:g} {unit}"
                )

    @property
    def is_felt(self) -> bool:
        """Whether it has a force or a torque."""
        return any((*self.force, *self.torque))

    @property
    def end(self) -> float:
        """End of the push, [s]."""
        return self.start + self.duration

    def __str__(self) -> str:
        sizes = ((math.hypot(*self.force), f"N {self._direction()}"), (math.hypot(*self.torque), "N·m"))
        size = " and ".join(f"{value:.3g} {unit}" for value, unit in sizes if value > 0.0) or "0 N"
        return f"push of {size} on {self.link} from {self.start:.2f} to {self.end:.2f} s"

    def _direction(self) -> str:
        """Return where the force points, by the axes of the world, which are those of a robot that begins to walk."""
        least = _ASIDE * math.hypot(*self.force)
        words = [names[value < 0.0] for value, names in zip(self.force, _AXES, strict=True) if abs(value) > least]
        return words[0] if len(words) == 1 else f"along ({', '.join(f'{value:.3g}' for value in self.force)})"


@dataclass(frozen=True, slots=True, eq=False)
class _Action:
    """A push as the engine needs it; the arm leads from the body's to the link's centre of mass."""

    steps: range
    body: int
    force: NDArray
    torque: NDArray
    arm_in_body: NDArray


class Pusher:
    """Knows where on its rigid body each push acts; the first to write ``data.xfrc_applied`` in each step."""

    def __init__(self, tree: RigidTree, model: mujoco.MjModel, torso_frame: str) -> None:
        self._tree, self._model, self._torso_frame = tree, model, torso_frame
        self._actions: list[_Action] = []

    def add(self, push: Push) -> None:
        """Take a push, now or later.

        Raises:
            ModelError: The model has no such link.
        """
        frame = self._frame(push.link)
        try:
            body = self._tree.body_of(frame)
        except ModelError:
            nearest = nearest_name(push.link, [TORSO, *(name for each in self._tree.bodies for name in each.frames)])
            missing = f"push on '{push.link}': the model has no link or frame '{push.link}'{nearest}"
            raise ModelError(f"{missing}; '{TORSO}' is its {self._torso_frame}") from None
        inertial = body.inertials.get(frame)
        point = body.frames[frame][:3, 3] if inertial is None else inertial.centre
        first = round(push.start / self._model.opt.timestep)
        steps = range(first, first + round(push.duration / self._model.opt.timestep))
        arm = point - body.inertial.centre
        number = self._model.body(body.name).id
        self._actions.append(_Action(steps, number, np.array(push.force), np.array(push.torque), arm))

    def _frame(self, link: str) -> str:
        """Return the frame of the model that a push names; a link of the model that is called `TORSO` is that link."""
        is_in_model = any(link in body.frames for body in self._tree.bodies)
        return self._torso_frame if link == TORSO and not is_in_model else link

    def wrench(self, data: mujoco.MjData, step: int, com_position: NDArray) -> NDArray:
        """Return the pushes of a physics step in sum: force, and moment about the CoM, world, [N, N·m], shape (6,)."""
        total = np.zeros(6)
        for action in self._actions:
            if step in action.steps:
                arm = data.xipos[action.body] + data.xmat[action.body].reshape(3, 3) @ action.arm_in_body - com_position
                total += np.concatenate([action.force, action.torque + so3.cross(arm, action.force)])
        return total

    def apply(self, data: mujoco.MjData, step: int) -> None:
        """Set the external forces of a physics step."""
        data.xfrc_applied.fill(0.0)
        for action in self._actions:
            if step in action.steps:
                arm = data.xmat[action.body].reshape(3, 3) @ action.arm_in_body
                data.xfrc_applied[action.body, :3] += action.force
                data.xfrc_applied[action.body, 3:] += action.torque + so3.cross(arm, action.force)
