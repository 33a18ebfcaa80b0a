"""Where the URDF of a robot lies: in the Python package that carries it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sysconfig
from pathlib import Path

from gradiva.common import ModelError, nearest_name


def find_model_file(package: str, model: str) -> Path:
    """Return the URDF of ``model`` in ``package``.

    Raises:
        ModelError: The package is not installed or cannot be loaded, or does not carry the model.
    """
    finders = {"icub-models": _find_in_icub_models, "example-robot-data": _find_in_example_robot_data}
    if package not in finders:
        raise ModelError(f"unknown model package '{package}'{nearest_name(package, finders)}")
    return finders[package](model)


def _find_in_icub_models(model: str) -> Path:
    if importlib.util.find_spec("icub_models") is None:
        raise _missing_package("icub-models==2.8.1")
    try:
        import icub_models
    except ImportError as error:
        reason = str(error).splitlines()[0] if str(error) else "no reason given"
        raise ModelError(f"the model package icub-models cannot be loaded: {reason}") from None
    names = icub_models.get_robot_names()
    if model not in names:
        version = importlib.metadata.version("icub-models")
        raise ModelError(f"icub-models {version} has no model '{model}'{nearest_name(model, names)}")
    return Path(icub_models.get_model_file(model))


def _find_in_example_robot_data(model: str) -> Path:
    robots = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots")
    if not robots.is_dir():
        raise _missing_package("example-robot-data")
    if not (robots / model).is_file():
        raise ModelError(f"example-robot-data has no file '{model}' below its robots")
    return robots / model


def _missing_package(requirement: str) -> ModelError:
    return ModelError(f"the model package is not installed: pip install '{requirement}'")
