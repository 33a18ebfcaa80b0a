"""Registry of layer 2: every DCM law and balance layer that ``walking.model`` and ``--model`` can name.

One entry gives the configuration table, the choices of the command line and their help, the fingerprint by which
processes compare their configurations, the preview of the remote layer and the warning about a table that is not read.
A law of another package is named by its entry point ::

    [project.entry-points."gradiva.balance_laws"]
    my_law = "my_package.my_law:MyLaw"

or, without installing it, as ``package.module:Class``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, NoSolutionFound, Registry, RobotState, plugin_errors
from gradiva.robot_model import Compiler, RobotDescription, interpreted
from gradiva.simplified_model.balance_layer import BalanceLayer, BalancePlan, BalanceReference, DcmLaw, LawMemory
from gradiva.simplified_model.simplified_model_control import (
    DcmController,
    DcmControllerConfig,
    GainSchedule,
    SimplifiedModelControl,
    ZmpComControllerConfig,
)

_TABLES = "balance_laws"
_ROUNDING = 1e-9  # [s] sums of periods are not exact
LAWS = Registry(
    "gradiva.balance_laws",
    "law",
    (DcmLaw, BalanceLayer),
    shipped={
        "dcm": "gradiva.simplified_model.simplified_model_control:DcmController",
        "dcm_mpc": "gradiva.simplified_model.dcm_mpc:DcmMpc",
        "centroidal_mpc": "gradiva.reduced_model.centroidal_layer:CentroidalModelControl",
    },
    returns={"zmp": (np.ndarray,), "update": (BalanceReference,)},
)


@dataclass(frozen=True, slots=True)
class BalanceLaw:
    """An entry of the registry.

    Attributes:
        name: As in ``walking.model`` and ``--model``.
        kind: Its class.
    """

    name: str
    kind: type[DcmLaw | BalanceLayer]

    @property
    def table(self) -> str:
        """Name of its table, with dots: of a shipped law its own, of another one below ``balance_laws``."""
        name = self.kind.table or self.name.rpartition(":")[2]
        return name if self.name in LAWS.shipped else f"{_TABLES}.{name}"

    @property
    def summary(self) -> str:
        """First line of the docstring of its class."""
        return (inspect.getdoc(self.kind) or "").partition("\n")[0]

    def config(self, table: Mapping[str, Any], where: str) -> Any:
        """Return its table as its configuration; None for a law without one.

        Raises:
            ConfigError: A key is unknown or missing, or a value is refused.
        """
        return LAWS.config(self.kind, table, where)


def balance_law_names() -> list[str]:
    """Return the names of the shipped laws and of those of installed packages."""
    return LAWS.names()


def balance_law(name: str) -> BalanceLaw:
    """Return the law of a name, or of ``package.module:Class``.

    Raises:
        ConfigError: There is none, it cannot be imported, or it is no law of layer 2.
    """
    return BalanceLaw(name, LAWS.kind(name))


def shipped_laws() -> list[BalanceLaw]:
    """Return the laws that are part of Gradiva."""
    return [balance_law(name) for name in LAWS.shipped]


@dataclass(frozen=True, slots=True)
class BalanceConfig:
    """Configuration of layer 2, whichever law it is.

    Attributes:
        model: Name of the law in the registry.
        law: Configuration of the law, an instance of its ``Config``; None for a law without one.
        dcm_controller: The instantaneous law; where another one has no solution it answers, so it is always needed.
        zmp_com_controller: The ZMP-CoM law.
        longest_step: Largest distance of the sole frames in double support, for layers that move footholds, [m].
        narrowest_step: Least lateral distance of the sole frames there, [m].
        blf_python: Interpreter of bipedal-locomotion-framework, for laws that may be solved there.
    """

    model: str
    law: Any
    dcm_controller: DcmControllerConfig
    zmp_com_controller: ZmpComControllerConfig
    longest_step: float
    narrowest_step: float
    blf_python: str = ""

    @property
    def horizon(self) -> tuple[float, int] | None:
        """Period [s] and count of the preview that the law reads; None where it reads none."""
        return balance_law(self.model).kind.horizon(self.law)

    @property
    def dcm_horizon(self) -> tuple[float, int] | None:
        """Period [s] and count of the samples of the planned DCM that the law reads; None where it reads none."""
        kind = balance_law(self.model).kind
        return kind.dcm_horizon(self.law) if issubclass(kind, BalanceLayer) else None

    @property
    def contact_horizon(self) -> float | None:
        """Time for which the law reads the contacts of the plan, [s]; None where it reads none."""
        kind = balance_law(self.model).kind
        return kind.contact_horizon(self.law) if issubclass(kind, BalanceLayer) else None

    @property
    def takes_wrench(self) -> bool:
        """Whether the law balances by the external wrench of the state itself."""
        kind = balance_law(self.model).kind
        return issubclass(kind, BalanceLayer) and kind.takes_wrench


def balance_layer(
    config: BalanceConfig,
    robot: RobotDescription,
    law: DcmLaw | BalanceLayer | None = None,
    compiler: Compiler = interpreted,
) -> BalanceLayer:
    """Return layer 2: by ``law``, or as it is configured; ``compiler`` makes its equations fast."""
    if law is None:
        entry = balance_law(config.model)
        with plugin_errors(f"[{entry.table}]", entry.kind):
            if issubclass(entry.kind, BalanceLayer):
                law = entry.kind.built(config, robot, compiler)
            else:
                law = entry.kind(config.law, robot)  # type: ignore[call-arg]
    law = LAWS.guarded(law, "layer 2")
    return law if isinstance(law, BalanceLayer) else model_control(law, config, compiler)


def model_control(law: DcmLaw, config: BalanceConfig, compiler: Compiler = interpreted) -> SimplifiedModelControl:
    """Return the simplified model control by a DCM law; where that has no solution the instantaneous one answers.

    Raises:
        ConfigError: The law states neither equations nor a method ``zmp``, or they do not fit layer 2.
    """
    if type(law).zmp is DcmLaw.zmp:
        law.equations()
    period = law.decision_period
    if not law.states_equations or period > 0.0:
        law = FallbackLaw(law, DcmController(config.dcm_controller))
        law = DecimatedLaw(law, period) if period > 0.0 else law
    zmp_com = config.zmp_com_controller
    gains = GainSchedule(zmp_com.walking, zmp_com.standing)
    return SimplifiedModelControl(law, gains, compiler)


def fallback_layer(config: BalanceConfig) -> SimplifiedModelControl:
    """Return the layer that balances while the one in another process does not answer: the instantaneous law."""
    return model_control(DcmController(config.dcm_controller), config)


class FallbackLaw(DcmLaw):
    """Asks a DCM law, and the instantaneous one where that has no solution.

    Attributes:
        law: The one that is asked first.
        failures: How often it had no solution.
    """

    def __init__(self, law: DcmLaw, fallback: DcmLaw) -> None:
        self.law = law
        self._fallback = fallback
        self.failures = 0

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``; the integral is that of the fallback."""
        return replace(self.law.memory, dcm_integral=self._fallback.memory.dcm_integral)

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self.law.resume(memory)
        self._fallback.resume(memory)

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self.law.reset()
        self._fallback.reset()

    def tune(self, config: Any) -> None:
        """See ``DcmLaw.tune``: of the law that is asked first."""
        self.law.tune(config)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return those of the law that is asked first."""
        return self.law.signals()

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """See ``DcmLaw.zmp``."""
        try:
            return plan.polygon.project(self.law.zmp(state, plan, period))
        except NoSolutionFound:
            self.failures += 1
            return self._fallback.zmp(state, plan, period)


class DecimatedLaw(DcmLaw):
    r"""Asks a DCM law less often than the controller ticks, and holds its correction in between.

    Decided at :math:`t_k`, for :math:`t_k \le t < t_{k+1}`: :math:`z^*(t) = \Pi [z_r(t) + z^*(t_k) - z_r(t_k)]`, so
    that the reference :math:`z_r` moves on at the rate of the tick.
    """

    def __init__(self, law: DcmLaw, period: float) -> None:
        """Take the law and its decision period, [s]."""
        self._law = law
        self._period = period
        self._left = 0.0
        self._correction = np.zeros(2)

    @property
    def failures(self) -> int:
        """Number of decisions without a solution."""
        return getattr(self._law, "failures", 0)

    @property
    def memory(self) -> LawMemory:
        """See ``DcmLaw.memory``; the correction is decided anew after ``resume``."""
        return self._law.memory

    def resume(self, memory: LawMemory) -> None:
        """See ``DcmLaw.resume``."""
        self._law.resume(memory)
        self._left = 0.0

    def reset(self) -> None:
        """See ``DcmLaw.reset``."""
        self._law.reset()
        self._left = 0.0
        self._correction = np.zeros(2)

    def tune(self, config: Any) -> None:
        """See ``DcmLaw.tune``."""
        self._law.tune(config)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return those of the law."""
        return self._law.signals()

    def zmp(self, state: RobotState, plan: BalancePlan, period: float) -> NDArray:
        """See ``DcmLaw.zmp``."""
        is_due = self._left <= _ROUNDING
        reference = plan.reference.dcm
        if is_due:
            self._left = max(self._period, period)
            zmp = self._law.zmp(state, plan, self._left)
            self._correction = zmp - reference.zmp_position
        self._left -= period
        return zmp if is_due else plan.polygon.project(reference.zmp_position + self._correction)


def law_configs(model: str, tables: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the configurations of the shipped laws and of ``model``, by name of the law.

    Raises:
        ConfigError: There is no such law, a key is unknown or missing, or a value is refused; its ``keys`` say which.
    """
    try:
        chosen = balance_law(model)
    except ConfigError as error:
        raise ConfigError(f"{where} walking model: {error}", ["walking.model"]) from None
    configs = {}
    for law in {law.name: law for law in (*shipped_laws(), chosen)}.values():
        table: Any = tables
        for part in law.table.split("."):
            table = table.get(part, {}) if isinstance(table, Mapping) else {}
        try:
            configs[law.name] = law.config(table, f"{where} {law.table}")
        except ConfigError as error:
            raise ConfigError(str(error), [f"{law.table}.{key}" for key in error.keys]) from None
    return configs
