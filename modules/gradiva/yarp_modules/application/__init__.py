"""Applications of yarpmanager: read, written, and run without it."""

from gradiva.yarp_modules.application.application import (
    Application,
    ApplicationConnection,
    ApplicationModule,
    PortDependency,
)
from gradiva.yarp_modules.application.application_reader import read_application

__all__ = ["Application", "ApplicationConnection", "ApplicationModule", "PortDependency", "read_application"]
