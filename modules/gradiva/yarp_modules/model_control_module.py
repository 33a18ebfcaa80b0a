"""Layer 2 as a process."""

from __future__ import annotations

from gradiva.walking.walking_layers import model_control_of
from gradiva.yarp_modules.config_files import setup_of
from gradiva.yarp_modules.layer_fingerprints import model_control_fingerprint
from gradiva.yarp_modules.message_codec import MessageCodec
from gradiva.yarp_modules.model_control_service import ModelControlService
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.pendulum_messages import PendulumRequest
from gradiva.yarp_modules.service_module import ServiceModule


class ModelControlModule(ServiceModule):
    """Answers `PendulumRequest` at ``/model-control/state:i`` by `PendulumReply` at ``/model-control/desired:o``."""

    TITLE = "model_control"
    SUMMARY = "Layer 2: from the estimated state and the plan to the ZMP and the CoM that the body should have."
    NAME = "/model-control"
    REQUEST_PORT = "state:i"
    REPLY_PORT = "desired:o"

    def __init__(self, options: ModuleOptions) -> None:
        """Make layer 2.

        Raises:
            WalkingError: The configuration is wrong.
        """
        setup = setup_of(options)
        layer = model_control_of(setup.robot, setup.walking)
        service = ModelControlService(layer, model_control_fingerprint(setup.robot, setup.walking))
        super().__init__(options, service, (PendulumRequest, MessageCodec()), setup.walking.walking.period)
