"""Robots: their descriptions, and their kinematics and dynamics."""

from gradiva.robot_model.robot_description import ForceTorqueSensor, JointGroup, RobotDescription

__all__ = ["ForceTorqueSensor", "JointGroup", "RobotDescription"]
