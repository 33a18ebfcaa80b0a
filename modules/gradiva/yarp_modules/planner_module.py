"""Layer 1 as a process."""

from __future__ import annotations

from gradiva.planner import WalkingPlanner
from gradiva.yarp_modules.config_files import setup_of
from gradiva.yarp_modules.layer_fingerprints import planner_fingerprint
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.plan_messages import PlanQuestion, plan_codec
from gradiva.yarp_modules.planner_service import PlannerService
from gradiva.yarp_modules.service_module import ServiceModule

_USEFUL = 0.3  # [s] after which a plan comes too late: [coordinator] planning_lead of whole_body


class PlannerModule(ServiceModule):
    """Answers `PlanQuestion` at ``/planner/request:i`` by `PlanAnswer` at ``/planner/plan:o``."""

    TITLE = "planner"
    SUMMARY = "Layer 1: from commands to footsteps and references over time."
    NAME = "/planner"
    REQUEST_PORT = "request:i"
    REPLY_PORT = "plan:o"

    def __init__(self, options: ModuleOptions) -> None:
        """Make the planner.

        Raises:
            WalkingError: The configuration is wrong.
        """
        config = setup_of(options).walking.planner
        service = PlannerService(WalkingPlanner(config), planner_fingerprint(config))
        super().__init__(options, service, (PlanQuestion, plan_codec()), _USEFUL)
