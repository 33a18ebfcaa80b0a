"""Writes what a walking module publishes to run folders."""

from gradiva.yarp_modules.logger.log_recorder import LogRecorder
from gradiva.yarp_modules.logger.logger_module import LoggerModule

__all__ = ["LogRecorder", "LoggerModule"]
