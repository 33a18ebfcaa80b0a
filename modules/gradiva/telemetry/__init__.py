"""Logs, run folders, reports, and the robot in the browser."""

from gradiva.telemetry.export import ExportFormat, export_log
from gradiva.telemetry.footprint import Footprint, footprints
from gradiva.telemetry.mat_file import MatLog, read_mat, write_mat
from gradiva.telemetry.replay import replay, save_replay_page
from gradiva.telemetry.report import write_report
from gradiva.telemetry.robot_view import RobotView
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.signal_log import LogError, SignalInfo, SignalLog

__all__ = [
    "ExportFormat",
    "Footprint",
    "LogError",
    "MatLog",
    "RobotView",
    "RunFolder",
    "SignalInfo",
    "SignalLog",
    "export_log",
    "footprints",
    "read_mat",
    "replay",
    "save_replay_page",
    "write_mat",
    "write_report",
]
