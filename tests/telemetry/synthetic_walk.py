"""Synthesise the log of a walk: smooth curves with the signals, sizes and names of a real log."""

import numpy as np

from gradiva.common import Side
from gradiva.telemetry import SignalLog

LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
JOINTS = (
    *("torso_pitch", "torso_roll", "torso_yaw"),
    *(f"{side}_{joint}" for side in "lr" for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")),
    *(f"{side}_{joint}" for side in "lr" for joint in LEG),
)
STEP_TIME, STEP_LENGTH, HALF_WIDTH, COM_HEIGHT = 0.8, 0.12, 0.08, 0.53  # s, m, m, m
DOUBLE_SUPPORT = 0.2  # fraction of a step
FREQUENCY = np.sqrt(9.81 / COM_HEIGHT)  # rad/s
WEIGHT = 324.0  # N


def steps_of(times):
    """Return the number of the step and how much of it is over; the left foot swings in the even ones."""
    number, phase = np.divmod(times / STEP_TIME, 1.0)
    return number.astype(int), phase


def foot_positions(times, side):
    """Return where a sole is, shape (T, 3); the step of number k ends at k times the step length."""
    number, phase = steps_of(times)
    latest = number - (number % 2 != (0 if side is Side.LEFT else 1))
    start, goal = STEP_LENGTH * np.maximum(latest - 2, 0), STEP_LENGTH * np.maximum(latest, 0)
    swing = np.clip((phase - DOUBLE_SUPPORT) / (1.0 - DOUBLE_SUPPORT), 0.0, 1.0)
    swing = np.where((latest == number) & (latest > 0), swing, 1.0)
    x = start + (goal - start) * swing**2 * (3.0 - 2.0 * swing)
    return np.column_stack([x, np.full_like(times, side.sign * HALF_WIDTH), 0.02 * np.sin(np.pi * swing) ** 2])


def base_and_com(times):
    """Return the CoM and its velocity and acceleration, shape (T, 3) each."""
    rate = np.pi / STEP_TIME
    speed = STEP_LENGTH / STEP_TIME
    zero = np.zeros_like(times)
    sway = 0.02 * np.sin(rate * times)
    com = np.column_stack([speed * (times - STEP_TIME / 2), sway, zero + COM_HEIGHT])
    velocity = np.column_stack([zero + speed, 0.02 * rate * np.cos(rate * times), zero])
    return com, velocity, np.column_stack([zero, -(rate**2) * sway, zero])


def walk_signals(times, seed=0):
    """Return all signals that a run in simulation logs, by name."""
    rng = np.random.default_rng(seed)

    def noisy(samples, scale):
        return samples + rng.normal(scale=scale, size=samples.shape)

    com, velocity, acceleration = base_and_com(times)
    dcm, zmp = (com + velocity / FREQUENCY)[:, :2], (com - acceleration / FREQUENCY**2)[:, :2]
    number, phase = steps_of(times)
    double_support = (phase < DOUBLE_SUPPORT) | (number == 0)
    stance_is_left = number % 2 == 1
    phases = 2 * np.pi * times[:, None] / (2 * STEP_TIME) + np.arange(len(JOINTS))
    joints = 0.3 * np.sin(phases) * (1.0 + 0.004 * np.arange(len(JOINTS)))
    root = com + np.array([0.0, 0.0, 0.05])
    signals = {
        "dcm::position::measured": noisy(dcm, 3e-3),
        "dcm::position::desired": dcm,
        "dcm::velocity::desired": velocity[:, :2],
        "zmp::measured": noisy(zmp, 6e-3),
        "zmp::desired": zmp,
        "zmp::desired_planner": zmp,
        "com::position::measured": noisy(com, 1e-3),
        "com::position::desired": com,
        "com::velocity::measured": noisy(velocity, 5e-3),
        "com::velocity::desired": velocity,
        "joints_state::positions::measured": noisy(joints, 1e-3),
        "joints_state::positions::desired": joints,
        "joints_state::velocities::measured": noisy(joints, 1e-2),
        "joints_state::velocities::desired": joints,
        "joints_state::torques::measured": noisy(20.0 * joints, 0.5),
        "joints_state::torques::command": 20.0 * joints,
        "root_link::position::measured": noisy(root, 1e-3),
        "root_link::orientation::measured": noisy(np.zeros_like(com), 5e-3),
        "simulation::root_link::position": root + 0.01 * times[:, None] / times[-1],
        "simulation::root_link::orientation": np.zeros_like(com),
        "simulation::joint_positions": joints,
        "simulation::com::position": com,
        "stance_foot::is_left": stance_is_left.astype(float),
        "walking::is_double_support": double_support.astype(float),
    }
    foothold = np.where(double_support[:, None], np.nan, [0.3, 0.1, 0.0])
    signals |= {
        "step_adaptation::is_active": (~double_support).astype(float),
        "step_adaptation::delay": -0.05 * ~double_support,
        "step_adaptation::nominal_foothold": foothold,
        "step_adaptation::adapted_foothold": foothold + np.array([0.02, -0.03, 0.0]),
        "external_wrench::force": noisy(np.zeros((len(times), 3)), 4.0),
        "external_wrench::torque": noisy(np.zeros((len(times), 3)), 1.0),
    }
    signals |= {
        "mpc::solve_time": np.full_like(times, 0.002),
        "mpc::fallbacks": times // 1.0,
        "mpc::late_decisions": 0.0 * times,
    }
    for side in Side:
        position = foot_positions(times, side)
        loaded = double_support | (stance_is_left if side is Side.LEFT else ~stance_is_left)
        force = WEIGHT * loaded / (1.0 + double_support)
        up = np.outer(force, [0.0, 0.0, 1.0])
        signals[f"{side}_foot::position::measured"] = noisy(position, 5e-4)
        signals[f"{side}_foot::position::desired"] = position
        signals[f"{side}_foot::orientation::measured"] = noisy(np.zeros_like(position), 5e-3)
        signals[f"{side}_foot::orientation::desired"] = np.zeros_like(position)
        signals[f"{side}_foot::linear_force::measured"] = np.where(up > 0.0, noisy(up, 4.0), 0.0)
        signals[f"{side}_foot::angular_torque::measured"] = np.zeros_like(position)
        signals[f"simulation::{side}_foot::position"] = position
        signals[f"simulation::{side}_foot::sinkage"] = np.where(loaded, 0.01, np.nan)
        signals[f"simulation::{side}_foot::tilt"] = np.where(loaded, 0.05, np.nan)
        signals[f"{side}_foot::contact::is_active"] = loaded.astype(float)
        for parameter, truth in (("stiffness", 2e6), ("damping", 1e4)):
            signals[f"{side}_foot::contact::{parameter}"] = noisy(np.full_like(times, truth), 0.05 * truth)
            signals[f"simulation::{side}_foot::contact::{parameter}"] = np.where(loaded, truth, np.nan)
    ticks = {"estimation": 60.0, "model_control": 90.0, "whole_body": 140.0}
    for name, median in ticks.items():
        signals[f"tick::{name}"] = rng.lognormal(np.log(median), 0.2, size=times.shape)
    signals["tick::total"] = sum(signals[f"tick::{name}"] for name in ticks) + 20.0
    return signals


def walk_result():
    """Return what a run says of itself."""
    error = {"rms": 0.0041, "max": 0.0153}
    return {
        "outcome": "walked",
        "reason": "stood for two seconds after the last step",
        "robot": "icub_v2_7",
        "control": "position",
        "model": "dcm",
        "ground": "rigid",
        "seed": 0,
        "duration_s": 24.99,
        "distance_m": 3.61,
        "commanded_speed_mps": 0.19,
        "walking_speed_mps": 0.17,
        "mean_speed_mps": 0.15,
        "peak_speed_mps": 0.19,
        "final_pose": [3.61, 0.01, 0.002],
        "goal_error_m": 0.021,
        **{f"{name}_error_m": error for name in ("com", "dcm", "zmp", "foot")},
        "foot_yaw_error_rad": {"rms": 0.004, "max": 0.02},
        "sinkage_m": 0.0123,
        "foot_tilt_rad": 0.07,
        "foot_slip_m": 0.0004,
        "odometry_drift_m": 0.017,
        "max_tilt_rad": 0.031,
        "specific_energetic_cost": 0.42,
        "qp_failures": 0,
        "safety_events": [],
        "chatter": {
            "double_support": {"foot_force": 0.0451, "zmp_m": 0.0021, "command_rad": 0.0042, "joint": "l_knee"},
            "single_support": None,
            "shift": {"foot_force": 0.0123, "zmp_m": 0.0007, "command_rad": 0.0011, "joint": "l_knee"},
            "lasting_foot_force": 0.0061,
            "healthy_shift": {"foot_force": 0.003, "zmp_m": 0.0001},
            "text": "the loop oscillates at 50 Hz",
        },
        "tick_us": {
            name: {"median": 90.0, "p99": 180.0, "max": 1204.0}
            for name in ("estimation", "model_control", "whole_body", "total")
        },
        "deadline_misses": 0,
        "real_time_factor": 7.4,
        "sole": {"x": [-0.0535, 0.1065], "y": [-0.031, 0.041]},
        "joints": list(JOINTS),
        "legs": {side: [f"{side[0]}_{joint}" for joint in LEG] for side in ("left", "right")},
        "torque_limits": [5.0] * len(JOINTS),
        "torque_control": {
            "saturated_fraction": 0.25,
            "violations": {"joint_torques": {"fraction": 0.125, "max": 0.25}},
        },
        "held_ticks": 0,
        "joint_limits": {"lower": [-0.36] * len(JOINTS), "upper": [0.5 + 0.01 * index for index in range(len(JOINTS))]},
    }


def walk_log(duration=25.0, without=()):
    """Return the log of a walk of so many seconds at 100 Hz."""
    times = np.arange(0.0, duration, 0.01)
    signals = {name: samples for name, samples in walk_signals(times).items() if name not in without}
    return SignalLog.from_arrays(times, signals)
