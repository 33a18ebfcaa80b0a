"""Motions of joints that another program drives, such as teleoperated arms: a declared disturbance of the plant."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, ControlMode, ModelError, NDArray, minimum_jerk, nearest_name, unchecked
from gradiva.robot_model import RobotDescription
from gradiva.simulation.servos import MixedCommand

_WAVES = 3  # sines in a motion; one alone is periodic
_SLOWEST = 0.4  # [-] of the frequency, of the slowest sine
_RISE = 1.0  # [s] over which a motion begins
_MARGIN = 0.02  # [rad] to the joint limits
_STREAM = 7  # of the random generator, apart from those of noise and model errors


@dataclass(frozen=True, slots=True)
class JointMotion:
    r"""Motion at random of joints whose position servos obey it instead of the controller.

    .. math:: s_j(t) = s_j(0) + \frac{a}{K} \sum_{k=1}^{K} \sin(2 \pi f_{jk} t + \varphi_{jk})

    with frequencies drawn between 0.4 f and f and phases, both from the seed, joint by joint; within the joint limits.

    Attributes:
        joints: Names.
        amplitude: a, largest way from the start posture, [rad].
        frequency: f, the highest one, [Hz].
        start: Since the robot's start, [s].
    """

    joints: tuple[str, ...]
    amplitude: float
    frequency: float
    start: float = 0.0

    def __post_init__(self) -> None:
        values = {"amplitude": self.amplitude, "frequency": self.frequency}
        for name, value in values.items():
            if not 0.0 < value < math.inf:
                raise ConfigError(f"motion of {', '.join(self.joints)}: {name}={value} must be positive, and finite")
        if not self.joints:
            raise ConfigError("a motion of joints names no joint")


class JointMotions:
    """Puts the targets of moved joints in the place of those that the controller commands."""

    def __init__(
        self, motions: tuple[JointMotion, ...], description: RobotDescription, limits: NDArray, seed: int
    ) -> None:
        """Draw frequencies and phases.

        Args:
            motions: Of the configuration.
            description: Of the robot.
            limits: Of the joints, lower and upper, [rad], shape (n, 2); equal ones are none.
            seed: Of all that is drawn.

        Raises:
            ModelError: The robot has no such joint, or two motions move the same.
        """
        self._motions = [(motion, _indices(motion, description)) for motion in motions]
        moved = [index for _, indices in self._motions for index in indices]
        if len(set(moved)) < len(moved):
            raise ModelError("joint_motions: a joint is moved by two motions")
        draw = np.random.default_rng((seed, _STREAM))
        self._waves = [draw.uniform(size=(2, len(indices), _WAVES)) for _, indices in self._motions]
        bounded = np.asarray(limits) + np.array((_MARGIN, -_MARGIN))
        self._limits = np.where(bounded[:, :1] < bounded[:, 1:], bounded, [-math.inf, math.inf])
        self._centre = np.zeros(len(description.joints))

    def begin(self, positions: NDArray) -> None:
        """Take the start posture, [rad], shape (n,)."""
        self._centre = positions.copy()

    def applied(self, command: MixedCommand, time: float) -> MixedCommand:
        """Return a command with the targets of the moved joints at ``time`` [s], in position mode."""
        if not self._motions:
            return command
        modes, values = list(command.modes), command.values.copy()
        for (motion, indices), waves in zip(self._motions, self._waves, strict=True):
            values[indices] = self._targets(motion, indices, waves, time)
            for index in indices:
                modes[index] = ControlMode.POSITION
        return unchecked(MixedCommand, modes=tuple(modes), values=values)

    def _targets(self, motion: JointMotion, indices: list[int], waves: NDArray, time: float) -> NDArray:
        since = max(0.0, time - motion.start)
        frequencies = motion.frequency * (_SLOWEST + (1.0 - _SLOWEST) * waves[0])
        sines = np.sin(2.0 * math.pi * (frequencies * since + waves[1])).mean(axis=1)
        targets = self._centre[indices] + minimum_jerk(since / _RISE)[0] * motion.amplitude * sines
        return np.clip(targets, self._limits[indices, 0], self._limits[indices, 1])


def _indices(motion: JointMotion, description: RobotDescription) -> list[int]:
    for joint in motion.joints:
        if joint not in description.joints:
            raise ModelError(
                f"joint_motions: the robot has no joint '{joint}'{nearest_name(joint, description.joints)}"
            )
    return [description.joints.index(joint) for joint in motion.joints]
