"""Settings that nobody is going to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradiva.common import ControlMode
from gradiva.setup import Setup
from gradiva.simplified_model import BalanceLaw, shipped_laws
from gradiva.simulation import GroundKind


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that not every walk reads.

    Attributes:
        name: With dots.
        choice: What makes it count, as it is typed.
        is_read: Whether a configuration makes that choice.
    """

    name: str
    choice: str
    is_read: Callable[[Setup], bool]

    def is_set_by(self, setting: str) -> bool:
        key = setting.partition("=")[0].strip()
        return key == self.name or key.startswith(f"{self.name}.")


def idle_settings(settings: Iterable[str], setup: Setup) -> list[str]:
    """Return one line for each table that ``table.key=value`` changes and this walk does not read."""
    settings = list(settings)
    idle = [table for table in _TABLES if any(map(table.is_set_by, settings)) and not table.is_read(setup)]
    return [f"warning: --set {table.name}.… has no effect in this walk, it needs {table.choice}" for table in idle]


def _is_by_torque(setup: Setup) -> bool:
    return setup.walking.walking.control is ControlMode.TORQUE


def _knows_soft_ground(setup: Setup) -> bool:
    return setup.walking.knows_soft_ground


def _on(kind: GroundKind) -> Callable[[Setup], bool]:
    return lambda setup: setup.simulation.ground.kind is kind


def _is_by(law: BalanceLaw) -> Callable[[Setup], bool]:
    return lambda setup: setup.walking.walking.model == law.name


_RIGID, _COMPLIANT = (f'--control torque --set torque_control.ground="{ground}"' for ground in ("rigid", "compliant"))
_TABLES = (
    _Table("torque_control", "--control torque", _is_by_torque),
    _Table("rigid_torque_control", _RIGID, lambda setup: _is_by_torque(setup) and not _knows_soft_ground(setup)),
    _Table("compliant_torque_control", _COMPLIANT, _knows_soft_ground),
    _Table("contact_estimator", _COMPLIANT, _knows_soft_ground),
    *(_Table(law.table, f"--model {law.name}", _is_by(law)) for law in shipped_laws() if law.name != "dcm"),
    _Table("simulation.viscoelastic", "--ground soft", _on(GroundKind.VISCOELASTIC)),
    _Table("simulation.penalty", "--ground penalty", _on(GroundKind.PENALTY)),
    *(
        _Table(name, "gradiva module", lambda setup: False)
        for name in ("robot_io", "bring_up", "coordinator", "remote", "joypad")
    ),
)
