"""The sub-modules that Gradiva's worker uses."""

from . import contacts, ik, parameters_handler, reduced_model_controllers, system, tsid

__all__ = ["contacts", "ik", "parameters_handler", "reduced_model_controllers", "system", "tsid"]
