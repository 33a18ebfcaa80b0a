"""Programs: modules with their cycle and RPC, and where their configuration and files are found."""

from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.rf_module import RFModule

__all__ = ["RFModule", "ResourceFinder"]
