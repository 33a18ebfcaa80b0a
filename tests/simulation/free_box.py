"""A brick, free to move, on any ground."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.simulation import Ground, SoleBox

MASS = 5.0  # [kg]
HALF_SIZE = np.array([0.1, 0.05, 0.02])  # [m]
AREA = 4.0 * HALF_SIZE[0] * HALF_SIZE[1]
GRAVITY = 9.81


class FreeBox:
    """A brick with a sole below it; its sensor sits off the middle, turned, as those of robots may."""

    def __init__(self, ground: Ground, timestep: float, gravity: tuple[float, float, float] = (0, 0, -GRAVITY)) -> None:
        spec = mujoco.MjSpec()
        spec.option.timestep = timestep
        spec.option.gravity = gravity
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        body = spec.worldbody.add_body(name="brick")
        body.add_freejoint()
        body.mass = MASS
        body.inertia = MASS / 3.0 * (np.sum(HALF_SIZE**2) - HALF_SIZE**2)
        body.explicitinertial = True
        self.ground = ground
        ground.add_to(spec, [self.sole()], timestep)
        self.model = spec.compile()
        ground.bind(self.model)
        self.data = mujoco.MjData(self.model)

    @staticmethod
    def sole() -> SoleBox:
        """The face below the brick, in a sensor's frame 3 cm in front of its middle and turned by 90°."""
        turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # of the sensor in the brick
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn, (0.03, 0.0, 0.0)
        return SoleBox("s", "brick", pose, turn.T @ np.array([-0.03, 0.0, 0.0]), turn.T, HALF_SIZE)

    @property
    def bottom(self) -> float:
        """Height of the middle of the lower face, [m]."""
        return float(self.data.site("face:s").xpos[2])

    @property
    def energy(self) -> float:
        """Kinetic and potential, but none of the ground, [J]."""
        velocity = self.data.qvel
        kinetic = MASS * velocity[:3] @ velocity[:3] + self.model.body("brick").inertia @ velocity[3:] ** 2
        return float(0.5 * kinetic - MASS * self.model.opt.gravity @ self.data.qpos[:3])

    def place(self, bottom: float, rotation: tuple[float, float, float, float] = (1, 0, 0, 0)) -> None:
        """Put the middle of the lower face at a height [m], at rest, turned by a quaternion."""
        self.data.qpos[:] = (0.0, 0.0, 0.0, *rotation)
        mujoco.mj_kinematics(self.model, self.data)
        self.data.qpos[2] = bottom - self.bottom
        mujoco.mj_kinematics(self.model, self.data)

    def advance(self, duration: float) -> list[float]:
        """Step, and return the height of the lower face after each step, [m]."""
        heights = []
        for _ in range(round(duration / self.model.opt.timestep)):
            self.data.xfrc_applied[:] = 0.0
            self.ground.step(self.model, self.data)
            mujoco.mj_kinematics(self.model, self.data)
            heights.append(self.bottom)
        return heights
