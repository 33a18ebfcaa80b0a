"""A robot of one's own balances by torque on two contacts with names, sways, and is pushed."""

from pathlib import Path

import numpy as np

import gradiva

ROBOT = Path(__file__).parents[1] / "own_robot"
PERIOD = 0.001  # [s]


def balance(duration: float = 3.0, push: float = 40.0) -> dict[str, float]:
    """Return the largest error of the centre of mass [m], the tilt [rad] and the load of the left foot [N] at the end.

    Args:
        duration: [s].
        push: To the left, on the trunk, for 0.1 s, [N].
    """
    robot = gradiva.load_robot(str(ROBOT))
    com, trunk = gradiva.ComTask(gain=6.0), gradiva.OrientationTask("trunk", gain=10.0)
    contacts = [
        gradiva.Contact("left foot", "left_sole", x=(-0.07, 0.13), y=(-0.05, 0.05)),
        gradiva.Contact("right foot", "right_sole", x=(-0.07, 0.13), y=(-0.05, 0.05)),
    ]
    dynamics = gradiva.InverseDynamics(robot, [com, trunk, gradiva.PostureTask(gain=5.0)], contacts)

    posture = robot.posture
    start, upright = robot.com_position(posture), posture.base_rotation
    plant = gradiva.MujocoRobot(robot.description, robot.setup.simulation, posture)
    plant.push(gradiva.Push("trunk", (0.0, push, 0.0), start=1.0, duration=0.1))
    errors = []
    while plant.time < duration and plant.fall is None:
        truth = plant.truth()
        posture = gradiva.RobotPosture(truth.base_position, truth.base_rotation, truth.joint_positions)
        com.set_target(start + np.array([0.0, 0.01 * np.sin(2.0 * plant.time), 0.0]))
        torques = dynamics.solve(posture, np.concatenate([truth.base_twist, truth.joint_velocities]))
        plant.write(gradiva.JointCommand(gradiva.ControlMode.TORQUE, torques))
        plant.advance(PERIOD)
        errors.append(np.linalg.norm(robot.com_position(posture) - com.target["position"]))
    tilt = gradiva.so3.tilt(posture.base_rotation @ upright.T)
    return {"error": max(errors), "tilt": tilt, "load": dynamics.wrench("left foot")[2], "time": plant.time}


if __name__ == "__main__":
    result = balance()
    print(f"CoM error {1e3 * result['error']:.1f} mm, tilt {result['tilt']:.3f} rad, after {result['time']:.1f} s")
    print(f"the left foot carries {result['load']:.0f} N")
