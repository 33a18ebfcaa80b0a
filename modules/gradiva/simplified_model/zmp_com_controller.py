"""The CoM velocity that brings both the zero moment point and the CoM to where they should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from gradiva.common import ConfigError, NDArray
from gradiva.simplified_model.zmp_com_gains import ZmpComGains

Plane = TypeVar("Plane", float, NDArray)
"""Vectors on the ground plane, shape (2,), or what they are along one of its axes."""

_LARGEST_RATIO = 3.0  # [-] walking with K_CoM / K_ZMP above it fell on every robot in simulation


@dataclass(frozen=True, slots=True)
class ZmpComControllerConfig:
    """The gains of both situations; ``GainSchedule`` goes from one to the other.

    The literature asks K_ZMP < ζ < K_CoM. With position servos below, K_ZMP ≈ ζ and K_CoM ≤ ζ walk best, and
    K_CoM > 3 K_ZMP falls.

    Attributes:
        walking: While the plan walks.
        standing: While it stands.
    """

    walking: ZmpComGains
    standing: ZmpComGains

    def check_for_motion_servos(self) -> None:
        """Pass when the walking set can walk with servos of position or velocity; those of torque need no gains.

        Raises:
            ConfigError: It cannot.
        """
        if self.walking.zmp == 0.0:
            raise ConfigError("walking: zmp=0, a robot that does not answer to its ZMP falls")
        if self.walking.com > _LARGEST_RATIO * self.walking.zmp:
            raise ConfigError(
                f"walking: com={self.walking.com} is more than {_LARGEST_RATIO:g} times zmp={self.walking.zmp}, "
                "a robot with these gains falls"
            )


class ZmpComController:
    r"""Feedback of the ZMP and of the CoM on the CoM velocity (thesis 10.2.25).

    .. math:: \dot x^* = \dot x_r - K_{ZMP} (z^* - z) + K_{CoM} (x_r - x)

    ==================  ==================================  =====
    Symbol              Name                                Unit
    ==================  ==================================  =====
    :math:`\dot x_r`    ``com_velocity_reference``          m/s
    :math:`x_r`         ``com_position_reference``          m
    :math:`x`           ``com_position``                    m
    :math:`z^*`         ``desired_zmp``, of the DCM layer   m
    :math:`z`           ``measured_zmp``                    m
    :math:`K_{ZMP}`     ``gains.zmp``                       1/s
    :math:`K_{CoM}`     ``gains.com``                       1/s
    ==================  ==================================  =====

    The signs differ because the ZMP leads the CoM the other way: a CoM that accelerates forward pushes the
    ZMP backward.
    """

    __slots__ = ()

    def velocity(
        self,
        com_velocity_reference: Plane,
        com_position_reference: Plane,
        com_position: Plane,
        desired_zmp: Plane,
        measured_zmp: Plane,
        gains: ZmpComGains,
    ) -> Plane:
        """Return the desired CoM velocity (world, [m/s]), on the ground plane or along one of its axes."""
        return (
            com_velocity_reference
            - gains.zmp * (desired_zmp - measured_zmp)
            + gains.com * (com_position_reference - com_position)
        )
