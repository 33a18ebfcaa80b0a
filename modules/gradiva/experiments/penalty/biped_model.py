"""The model of a biped with 14 joints: a trunk, two thighs, two shins, two feet."""

from __future__ import annotations

from dataclasses import dataclass

_EFFORT, _SPEED = 500.0, 20.0  # [N·m], [rad/s] wider than those of the description, which count
_MOTOR_MASS = 0.2  # [kg] between two axes of a hip or an ankle
_MOTOR_INERTIA = 2e-4  # [kg·m²]


def _numbers(vector: tuple[float, float, float]) -> str:
    return " ".join(str(value) for value in vector)


@dataclass(frozen=True, slots=True)
class Box:
    """A homogeneous box as the inertia of a link.

    Attributes:
        mass: [kg].
        size: [m].
        centre: In the frame of the link, [m].
    """

    mass: float
    size: tuple[float, float, float]
    centre: tuple[float, float, float]

    def inertial(self) -> str:
        """The URDF element."""
        x, y, z = (extent * extent * self.mass / 12.0 for extent in self.size)
        moments = f'ixx="{y + z}" iyy="{x + z}" izz="{x + y}" ixy="0" ixz="0" iyz="0"'
        place = f'<origin xyz="{_numbers(self.centre)}"/><mass value="{self.mass}"/>'
        return f"<inertial>{place}<inertia {moments}/></inertial>"


HIP_WIDTH = 0.20  # [m]
THIGH, SHIN, ANKLE = 0.40, 0.40, 0.08  # [m] lengths, and height of the ankle above the ground
_TRUNK = Box(25.0, (0.2, 0.3, 0.5), (0.0, 0.0, 0.25))
_THIGH = Box(5.0, (0.12, 0.12, THIGH), (0.0, 0.0, -0.5 * THIGH))
_SHIN = Box(2.7, (0.08, 0.08, SHIN), (0.0, 0.0, -0.5 * SHIN))
_FOOT = Box(1.0, (0.2, 0.1, 0.04), (0.03, 0.0, -ANKLE + 0.02))
_MOTOR = f"""<inertial><mass value="{_MOTOR_MASS}"/><inertia ixx="{_MOTOR_INERTIA}" iyy="{_MOTOR_INERTIA}"
 izz="{_MOTOR_INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial>"""
# Name of the joint, axis, range [rad], where it sits below the one before, and the link that it moves.
_LEG = (
    ("hip_yaw", (0, 0, 1), (-0.8, 0.8), 0.0, _MOTOR),
    ("hip_roll", (1, 0, 0), (-0.6, 0.6), 0.0, _MOTOR),
    ("hip_pitch", (0, 1, 0), (-1.8, 1.0), 0.0, _THIGH.inertial()),
    ("knee", (0, 1, 0), (0.02, 2.2), -THIGH, _SHIN.inertial()),
    ("ankle_pitch", (0, 1, 0), (-1.2, 0.8), -SHIN, _MOTOR),
    ("ankle_roll", (1, 0, 0), (-0.6, 0.6), 0.0, _MOTOR),
    ("ankle_yaw", (0, 0, 1), (-0.8, 0.8), 0.0, _FOOT.inertial()),
)


def biped_urdf() -> str:
    """Return the model as URDF."""
    legs = "".join(_leg(side, sign) for side, sign in (("l", 1.0), ("r", -1.0)))
    return f'<robot name="biped"><link name="trunk">{_TRUNK.inertial()}</link>{legs}</robot>\n'


def _leg(side: str, sign: float) -> str:
    parent, parts = "trunk", []
    offset = (0.0, sign * 0.5 * HIP_WIDTH, 0.0)
    for joint, axis, limits, below, inertial in _LEG:
        link = f"{side}_{joint}_link"
        place = offset if parent == "trunk" else (0.0, 0.0, below)
        parts.append(f'<link name="{link}">{inertial}</link>')
        parts.append(_joint(f"{side}_{joint}", parent, link, place, axis, limits))
        parent = link
    parts.append(f'<link name="{side}_sole"/><joint name="{side}_sole_fixed" type="fixed"><parent link="{parent}"/>')
    parts.append(f'<child link="{side}_sole"/><origin xyz="0 0 {-ANKLE}"/></joint>')
    return "".join(parts)


def _joint(
    name: str,
    parent: str,
    child: str,
    place: tuple[float, float, float],
    axis: tuple[int, int, int],
    limits: tuple[float, float],
) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_numbers(place)}"/><axis xyz="{_numbers(axis)}"/>'
        f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="{_EFFORT}" velocity="{_SPEED}"/></joint>'
    )
