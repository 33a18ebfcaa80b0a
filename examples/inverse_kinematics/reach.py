"""iCub v3 moves its left hand on a circle and its centre of mass to the sides, on feet that stay: no walking."""

import numpy as np

import gradiva

PERIOD = 0.01  # [s]


def reach(duration: float = 4.0) -> dict[str, np.ndarray]:
    """Return the largest errors of hand and centre of mass after the first second, and the motion of the feet, [m]."""
    robot = gradiva.load_robot("icub_v3")
    description, posture = robot.description, robot.posture
    soles = [description.left_foot_frame, description.right_foot_frame]
    feet = [gradiva.FrameTask(sole, priority="hard") for sole in soles]
    hand, com = gradiva.PositionTask("l_hand"), gradiva.ComTask()
    kinematics = gradiva.InverseKinematics(robot, [*feet, hand, com, gradiva.PostureTask()])

    hand_start, com_start = robot.frame_pose(posture, "l_hand")[0], robot.com_position(posture)
    sole_start = robot.frame_pose(posture, soles[0])[0]
    errors = []
    for time in np.arange(0.0, duration, PERIOD):
        hand_target = hand_start + 0.05 * np.array([np.sin(time), 0.0, 1.0 - np.cos(time)])
        com_target = com_start + np.array([0.0, 0.02 * np.sin(time), 0.0])
        hand.set_target(hand_target, twist=0.05 * np.array([np.cos(time), 0.0, np.sin(time), 0.0, 0.0, 0.0]))
        com.set_target(com_target, velocity=[0.0, 0.02 * np.cos(time), 0.0])
        posture = gradiva.integrate(posture, kinematics.solve(posture, PERIOD), PERIOD)
        hand_error = robot.frame_pose(posture, "l_hand")[0] - hand_target
        errors.append([np.linalg.norm(hand_error), np.linalg.norm(robot.com_position(posture) - com_target)])
    largest = np.max(errors[round(1.0 / PERIOD) :], axis=0)
    moved = np.linalg.norm(robot.frame_pose(posture, soles[0])[0] - sole_start)
    return {"hand": largest[0], "com": largest[1], "feet": moved}


if __name__ == "__main__":
    for name, error in reach().items():
        print(f"{name:5} {1e3 * error:6.2f} mm")
