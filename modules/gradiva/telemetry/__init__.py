"""Logs, run folders, reports, and the robot in the browser."""

from gradiva.telemetry.mat_file import MatLog, read_mat, write_mat
from gradiva.telemetry.report import write_report
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.signal_log import LogError, SignalInfo, SignalLog

__all__ = ["LogError", "MatLog", "RunFolder", "SignalInfo", "SignalLog", "read_mat", "write_mat", "write_report"]
