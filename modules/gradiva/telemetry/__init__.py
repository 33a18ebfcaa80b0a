"""Keep logs and run folders, write reports, show the robot in the browser."""

from gradiva.telemetry.comparison import write_comparison
from gradiva.telemetry.key_figures import (
    ERRORS,
    KEY_FIGURES,
    TRACKING_FIGURES,
    KeyFigure,
    further_steps,
    number,
    unhealthy_figures,
    unusual_figures,
)
from gradiva.telemetry.log_files import ExportFormat, MatLog, export_log, plain, read_mat, without_none, write_mat
from gradiva.telemetry.plot_style import COM, DCM, FOOT, INK, MUTED, REFERENCE, STYLE, WARNING, ZMP, shade
from gradiva.telemetry.plots import draw_plot
from gradiva.telemetry.replay import Motion, Replay, replay, rotations_from_rpy, save_replay_page
from gradiva.telemetry.report import page, write_report
from gradiva.telemetry.robot_view import RobotView
from gradiva.telemetry.run_folder import RunFolder, unsaved, unused_path
from gradiva.telemetry.signal_log import (
    JOURNAL_NAME,
    JournalReader,
    LogError,
    SignalInfo,
    SignalJournal,
    SignalLog,
    unit_of,
)
from gradiva.telemetry.walk_record import (
    AdaptedStep,
    BoolArray,
    Footprint,
    WalkRecord,
    adapted_steps,
    footprints,
    nominal_footprints,
    runs_of,
)

__all__ = [
    "COM",
    "DCM",
    "ERRORS",
    "FOOT",
    "INK",
    "JOURNAL_NAME",
    "KEY_FIGURES",
    "MUTED",
    "REFERENCE",
    "STYLE",
    "TRACKING_FIGURES",
    "WARNING",
    "ZMP",
    "AdaptedStep",
    "BoolArray",
    "ExportFormat",
    "Footprint",
    "JournalReader",
    "KeyFigure",
    "LogError",
    "MatLog",
    "Motion",
    "Replay",
    "RobotView",
    "RunFolder",
    "SignalInfo",
    "SignalJournal",
    "SignalLog",
    "WalkRecord",
    "adapted_steps",
    "draw_plot",
    "export_log",
    "footprints",
    "further_steps",
    "nominal_footprints",
    "number",
    "page",
    "plain",
    "read_mat",
    "replay",
    "rotations_from_rpy",
    "runs_of",
    "save_replay_page",
    "shade",
    "unhealthy_figures",
    "unit_of",
    "unsaved",
    "unused_path",
    "unusual_figures",
    "without_none",
    "write_comparison",
    "write_mat",
    "write_report",
]
