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
    RunOrigin,
    RunRecord,
    StartedProcess,
    claims_below,
    end_marked,
    end_modules,
    forget_ports,
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
    "RunOrigin",
    "RunRecord",
    "RunningModule",
    "SignalledEvent",
    "StartFailed",
    "StartedProcess",
    "application_files",
    "claims_below",
    "end_marked",
    "end_modules",
    "find_application",
    "forget_ports",
    "load_application",
    "read_application",
    "records_folder",
]
