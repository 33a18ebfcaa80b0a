"""Records the signals of a walking module in run folders."""

from gradiva.yarp_modules.logger.log_recorder import LogRecorder
from gradiva.yarp_modules.logger.logger_module import LoggerModule

__all__ = ["LogRecorder", "LoggerModule"]
