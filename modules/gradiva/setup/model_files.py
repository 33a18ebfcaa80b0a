"""Where the URDF of a robot lies: in the Python package that carries it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sysconfig
from pathlib import Path

from gradiva.common import ModelError, nearest_name

FILE = "file"
"""Instead of a package: the model is the path of a URDF, absolute or from the folder of the robot."""


def find_model_file(package: str, model: str, folder: Path = Path()) -> Path:
    """Return the URDF of ``model`` in ``package``.

    Args:
        package: Python package, or ``FILE``.
        model: Its name there, or a path.
        folder: From which a relative path begins.

    Raises:
        ModelError: The package is not installed or cannot be loaded, or does not carry the model.
    """
    if package == FILE:
        if not (folder / model).is_file():
            raise ModelError(f"model: there is no file {folder / model}")
        return (folder / model).resolve()
    finders = {"icub-models": _find_in_icub_models, "example-robot-data": _find_in_example_robot_data}
    if package not in finders:
        raise ModelError(f"unknown model package '{package}'{nearest_name(package, [*finders, FILE])}")
    return finders[package](model)


def package_and_model(urdf: str) -> tuple[str, str]:
    """Return the ``package`` and the ``model`` of robot.toml for a URDF.

    Args:
        urdf: A path, or ``package:model`` of one of the packages of ``find_model_file``.

    Raises:
        ModelError: There is no such file, package or model.
    """
    package, separator, model = urdf.partition(":")
    if separator and not Path(urdf).exists():
        find_model_file(package, model)
        return package, model
    path = Path(urdf).resolve()
    if not path.is_file():
        raise ModelError(f"there is no file {urdf}")
    robots = _example_robot_data()
    if path.is_relative_to(robots):
        return "example-robot-data", str(path.relative_to(robots))
    return FILE, str(path)


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
    robots = _example_robot_data()
    if not robots.is_dir():
        raise _missing_package("example-robot-data")
    if not (robots / model).is_file():
        raise ModelError(f"example-robot-data has no file '{model}' below its robots")
    return robots / model


def _example_robot_data() -> Path:
    return Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots").resolve()


def _missing_package(requirement: str) -> ModelError:
    return ModelError(f"the model package is not installed: pip install '{requirement}'")
