"""Applications of yarpmanager: read, written, and run without it."""

from gradiva.yarp_modules.application.application import (
    Application,
    ApplicationConnection,
    ApplicationModule,
    PortDependency,
)
from gradiva.yarp_modules.application.application_reader import (
    application_files,
    find_application,
    load_application,
    read_application,
)
from gradiva.yarp_modules.application.application_run import ApplicationRun, RunOptions, StartFailed
from gradiva.yarp_modules.application.run_claim import (
    AlreadyRunsError,
    RunClaim,
    RunRecord,
    end_marked,
    records_folder,
)
from gradiva.yarp_modules.application.running_module import (
    MARK,
    ApplicationNetwork,
    EndTimeouts,
    ModuleState,
    RunningModule,
    SignalledEvent,
)

__all__ = [
    "MARK",
    "AlreadyRunsError",
    "Application",
    "ApplicationConnection",
    "ApplicationModule",
    "ApplicationNetwork",
    "ApplicationRun",
    "EndTimeouts",
    "ModuleState",
    "PortDependency",
    "RunClaim",
    "RunOptions",
    "RunRecord",
    "RunningModule",
    "SignalledEvent",
    "StartFailed",
    "application_files",
    "end_marked",
    "find_application",
    "load_application",
    "read_application",
    "records_folder",
]
