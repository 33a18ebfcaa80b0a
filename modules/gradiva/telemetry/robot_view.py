"""Show the robot in the browser: links, footprints, CoM, DCM, ZMP, ground forces."""

from __future__ import annotations

import io
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side
from gradiva.robot_model import DISC_COLOURS, DISC_HEIGHT, DISC_RADIUS, RobotDescription, deflection_note
from gradiva.telemetry.plot_style import COM, DCM, FOOT, ZMP
from gradiva.telemetry.robot_meshes import LinkPoses, load_meshes
from gradiva.telemetry.walk_record import Footprint

if TYPE_CHECKING:  # takes a moment to import, which no walk without a view needs
    import viser

DEFAULT_PORT = 8080

Colour = tuple[float, float, float]
BodyMeshes = dict[tuple[str, Colour], tuple[NDArray, npt.NDArray[np.int64]]]

_POINTS = {"com": COM, "dcm": DCM, "zmp": ZMP}
_DISC_POINTS = 48  # [-]
_ANGLES = np.linspace(0.0, 2.0 * np.pi, _DISC_POINTS)
_RIM = np.column_stack((DISC_RADIUS * np.cos(_ANGLES), DISC_RADIUS * np.sin(_ANGLES), 0.0 * _ANGLES + DISC_HEIGHT))
_DISC_FACES = np.array([(0, point, point + 1) for point in range(1, _DISC_POINTS - 1)], dtype=np.int64)
_POINT_RADIUS = 0.02  # m
_OPACITY = 0.5  # [-] of the transparent robot
_GRAVITY = 9.81  # [m/s²]
_WEIGHT_LENGTH = 0.6  # [CoM heights] length of the arrow of a force as large as the weight
_SHAFT_RADIUS, _HEAD_RADIUS, _HEAD_LENGTH = 0.006, 0.014, 0.035  # [m] of an arrow
_CLOCK_HEIGHT = 2.1  # [CoM heights] above the ground: over the head
_LIFT = 0.004  # m, footprints lie above the floor, not in it
_OUTLINE = 0.004  # m, width of the outline of a nominal foothold
_GOAL = (214, 39, 120)
_PULL = (214, 39, 120)
_PULL_FORCE = 0.5  # [weights] of a link that is pulled by the height of the CoM
_SHORTEST_DRAG = 0.05  # m, on the floor: a shorter one has no heading
_FLOOR_DRAG = 30.0  # m, edge of the plane under the robot that takes clicks and drags
_BELIEF_AXES = 0.2  # [CoM heights] length of the axes of the base where the robot takes itself to be
_LOADED = 0.05  # [weights] on a foot that belongs to the support polygon
_LAYERS = {  # title of its switch: frame above what it shows, whether it is shown at first
    "Footprints": ("footprints", True),
    "Footholds as planned before they moved": ("nominal_footprints", True),
    "Support polygon": ("polygon", True),
    "Centre of mass": ("com", True),
    "DCM": ("dcm", True),
    "ZMP": ("zmp", True),
    "Ground forces": ("forces", True),
    "Where it takes itself to be": ("belief", False),
}
_STEEPEST = 0.02  # [-] height per way of a ray that meets the floor far away
_FOLLOW_GAIN = 0.06  # [-] fraction of the way to the robot that the scene moves at each frame: a low-pass against sway
_FOLLOW_JUMP = 0.5  # m, a robot farther away was put there, it did not walk


class RobotView:
    """A robot, its footprints, CoM, DCM and ZMP, the ground forces and the time, shown by a server of this process.

    The scene moves under the robot, so that the robot stays in the middle of the picture wherever it walks;
    a switch on the page stops that.
    """

    def __init__(self, description: RobotDescription, port: int = DEFAULT_PORT, host: str = "127.0.0.1") -> None:
        """Load the robot and start the server.

        Args:
            description: Of the robot.
            port: Where to listen; the next free one is taken if it is in use.
            host: Interface to listen on; only this machine can connect by default.

        Raises:
            ModelError: The model or a mesh of it cannot be loaded.
        """
        import viser

        self._description = description
        self._links = LinkPoses(description)
        meshes = self._body_meshes()
        self._wanted_port = port
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # browsers open connections that they drop
        with redirect_stdout(io.StringIO()):  # viser prints a greeting even with verbose=False
            self.server = viser.ViserServer(host=host, port=port, label=description.title, verbose=False)
        self.server.request_share_url = _refuse_sharing  # type: ignore[method-assign]  # any page may ask for it
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=False)
        self._world = self.server.scene.add_frame("/world", show_axes=False)
        self._switches = self.server.gui.add_folder("View", expand_by_default=False)  # it hides a narrow picture
        with self._switches:
            self._follows = self.server.gui.add_checkbox("Follow the robot", True)
            self._is_transparent = self.server.gui.add_checkbox("See through it", True)
            for title, (frame, is_shown) in _LAYERS.items():
                self._add_layer(title, f"/world/{frame}", is_shown)
            with self.server.gui.add_folder("Colours", expand_by_default=False):
                self.server.gui.add_html(_LEGEND)
        self._middle = np.zeros(2)
        self._meshes: list[viser.MeshHandle] = []
        self._frames = self._add_robot(meshes)
        self._make_transparent()
        self._is_transparent.on_update(lambda _: self._make_transparent())
        self._points = self._add_points()
        self._arrows = self._add_arrows()
        self._soles = {side: self._sole_on_body(side) for side in Side}
        self._polygon = self._add_polygon()
        self._belief = self.server.scene.add_frame(
            "/world/belief/base", axes_length=_BELIEF_AXES * description.com_height, axes_radius=0.008, visible=False
        )
        self._clock = self.server.scene.add_label("/world/clock", "", anchor="bottom-center", visible=False)
        self._footprints: list[viser.MeshHandle | viser.LineSegmentsHandle] = []
        self._ground_height = 0.0
        self._floor = self._add_floor()
        self._dragged_floor: viser.BoxHandle | None = None
        self._place_camera()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def show(
        self,
        base_position: NDArray,
        base_rotation: NDArray,
        joint_positions: NDArray,
        points: Mapping[str, NDArray] | None = None,
        forces: Mapping[Side, tuple[NDArray, NDArray]] | None = None,
        time: float | None = None,
    ) -> None:
        """Show the robot in one configuration.

        Args:
            base_position: World, [m], shape (3,).
            base_rotation: Shape (3, 3).
            joint_positions: [rad], shape (n,), in the order of the description.
            points: Any of ``com``, ``dcm`` and ``zmp``: world, [m], shape (2,) on the ground or (3,).
            forces: Of the ground on each foot: where [m], and the force [N], world, shape (3,) each.
            time: On the clock of the log, [s]; stands above the robot, with the largest deflection of links that bend.
        """
        from viser.transforms import SO3

        poses = self._links.poses(base_position, base_rotation, joint_positions)
        stacked = np.stack([poses[body] for body in self._frames])
        quaternions = SO3.from_matrix(stacked[:, :3, :3]).wxyz
        with self.server.atomic():
            self._follow(base_position[:2])
            for handle, pose, quaternion in zip(self._frames.values(), stacked, quaternions, strict=True):
                handle.position, handle.wxyz = pose[:3, 3], quaternion
            self._show_points(points or {})
            self._show_forces(forces or {})
            self._show_polygon(poses, forces or {})
            robot = self._description
            note = deflection_note(robot.flexible_joints, robot.joints, joint_positions)
            self._show_time(base_position, time, note)

    @property
    def links(self) -> list[str]:
        """Names of the links that one can see, by the alphabet."""
        return sorted({mesh.link for mesh in load_meshes(self._description.model_path)})

    def show_belief(self, base_position: NDArray, base_rotation: NDArray) -> None:
        """Show axes where the robot takes its base to be, world, [m]; nothing where that is not known."""
        from viser.transforms import SO3

        self._belief.visible = bool(np.isfinite(base_position).all())
        if self._belief.visible:
            self._belief.position = base_position
            self._belief.wxyz = SO3.from_matrix(base_rotation).wxyz

    def on_floor(self, callback: Callable[[float, float, float | None], bool]) -> None:
        """Call ``callback`` with a place on the floor, world, [m], and a heading, [rad]; mark it where that is true.

        A click is a place without a heading; a drag with the shift key begins at the place and points to where the
        robot shall look. It is called in the thread of the server.
        """
        with self._switches:
            takes_clicks = self.server.gui.add_checkbox("A click on the floor is a goal", True)
        mark = self._add_goal_mark()
        floor = self.server.scene.add_box(
            "/world/floor_that_is_dragged", dimensions=(_FLOOR_DRAG, _FLOOR_DRAG, 1e-3), opacity=0.0, cast_shadow=False
        )
        self._dragged_floor = floor

        @self.server.scene.on_click()  # type: ignore[arg-type]
        async def clicked(event: Any) -> None:
            origin, direction = np.array(event.ray_origin), np.array(event.ray_direction)
            if takes_clicks.value and direction[2] < -_STEEPEST:
                way = (self._ground_height - origin[2]) / direction[2]
                place = self._in_world(origin + way * direction)[:2]
                mark(place, None, callback(float(place[0]), float(place[1]), None))

        @floor.on_drag("left", modifier="shift")
        async def dragged(event: Any) -> None:
            start, end = (self._in_world(each)[:2] for each in (event.start_position, event.end_position))
            yaw = float(np.arctan2(*(end - start)[::-1])) if np.linalg.norm(end - start) > _SHORTEST_DRAG else None
            is_taken = event.phase != "end" or callback(float(start[0]), float(start[1]), yaw)
            mark(start, yaw, is_taken)

    def on_pull(self, callback: Callable[[str, NDArray, bool], None]) -> None:
        """Call ``callback`` with the link that is dragged, the force [N], world, shape (2,), and whether it was let go.

        The force is horizontal, along the way that the pointer has gone. It is called in the thread of the server.
        """
        scale = _PULL_FORCE * self._description.mass * _GRAVITY / self._description.com_height
        arrow = self._add_arrow("/world/pull", _PULL)
        for mesh in self._meshes:

            @mesh.on_drag("left")
            async def dragged(event: Any) -> None:
                start, end = (self._in_world(each) for each in (event.start_position, event.end_position))
                end[2] = start[2]
                arrow.visible, arrow.points = event.phase != "end", np.array([[start, end]], dtype=np.float32)
                callback(event.target.name.split("/")[-2], scale * (end - start)[:2], event.phase == "end")

    def _in_world(self, position: Any) -> NDArray:
        """Return a place in the world, which moves under the robot, of one in the scene."""
        return np.array(position) - np.array(self._world.position)

    def footprints(self, footprints: Sequence[Footprint], nominal: Sequence[Footprint] = ()) -> None:
        """Show soles instead of those shown before; the floor moves to the height of the lowest.

        Args:
            footprints: Where the feet stand, and will stand.
            nominal: Footholds before step adaptation moved them; their outlines are drawn.
        """
        sole_height = self._description.sole.z
        self._ground_height = min((one.position[2] + sole_height for one in footprints), default=0.0)
        with self.server.atomic():
            self._floor.position = (0.0, 0.0, self._ground_height)
            if self._dragged_floor is not None:
                self._dragged_floor.position = (*self._middle, self._ground_height)
            for handle in self._footprints:
                handle.remove()
            self._footprints = [self._add_footprint(index, one) for index, one in enumerate(footprints)]
            self._footprints += [self._add_outline(index, one) for index, one in enumerate(nominal)]

    def close(self) -> None:
        """Stop the server."""
        with redirect_stdout(io.StringIO()):
            self.server.stop()

    def announce(self) -> None:
        """Print the address of the page, and whether the wanted port was in use."""
        is_elsewhere = self._wanted_port not in (0, self.server.get_port())
        busy = f" (port {self._wanted_port} is in use)" if is_elsewhere else ""
        print(f"{self._description.title} is shown at {self.url}{busy}")

    def _show_points(self, points: Mapping[str, NDArray]) -> None:
        for name, ball in self._points.items():
            point = points.get(name)
            ball.visible = point is not None and bool(np.isfinite(point).all())
            if point is not None and ball.visible:
                on_ground = np.append(point[:2], self._ground_height + _POINT_RADIUS)
                ball.position = on_ground if len(point) == 2 else point

    def _show_forces(self, forces: Mapping[Side, tuple[NDArray, NDArray]]) -> None:
        scale = _WEIGHT_LENGTH * self._description.com_height / (self._description.mass * _GRAVITY)
        for side, arrow in self._arrows.items():
            tip, force = forces.get(side, (_NOWHERE, _NOWHERE))
            tail = tip - scale * force  # below the ground, where no leg hides it
            arrow.visible = bool(np.isfinite(tip).all()) and float(np.linalg.norm(tip - tail)) > _HEAD_LENGTH
            if arrow.visible:
                arrow.points = np.array([[tail, tip]], dtype=np.float32)

    def _show_time(self, base_position: NDArray, time: float | None, note: str) -> None:
        self._clock.visible = time is not None
        if time is not None:
            height = self._ground_height + _CLOCK_HEIGHT * self._description.com_height
            self._clock.position = np.array([base_position[0], base_position[1], height])
            self._clock.text = f"{time:.2f} s{note}"

    def _body_meshes(self) -> BodyMeshes:
        """Return one mesh for each moving link and colour: vertices and faces, in the frame of that link."""
        parts = defaultdict(list)
        for mesh in load_meshes(self._description.model_path):
            place = self._links.attachment(mesh.link)
            parts[place.body, mesh.colour].append((mesh.vertices @ place.rotation.T + place.position, mesh.faces))
        for body, colour, vertices in self._discs():
            parts[body, colour].append((vertices, _DISC_FACES))
        merged: BodyMeshes = {}
        for key, shapes in parts.items():
            starts = np.cumsum([0, *(len(vertices) for vertices, _ in shapes)])
            faces = np.vstack([faces + start for (_, faces), start in zip(shapes, starts, strict=False)])
            merged[key] = (np.vstack([vertices for vertices, _ in shapes]), faces)
        return merged

    def _discs(self) -> Iterator[tuple[str, Colour, NDArray]]:
        """Yield body, colour and vertices of the discs on either side of the flexible joints of a link."""
        robot, links = self._description, dict[str, list[str]]()
        for joint in robot.flexible_joints:
            if joint.name in robot.joints:
                links.setdefault(joint.joint, []).append(joint.name)
        rim = robot.com_height * _RIM
        for first, *_, last in links.values():
            before = self._links.before(first)
            yield before.body, DISC_COLOURS[0], rim @ before.rotation.T + before.position
            yield f"{last}_link", DISC_COLOURS[1], rim

    def _add_robot(self, meshes: BodyMeshes) -> dict[str, viser.FrameHandle]:
        scene = self.server.scene
        frames: dict[str, viser.FrameHandle] = {}
        for number, ((body, colour), (vertices, faces)) in enumerate(meshes.items()):
            if body not in frames:
                frames[body] = scene.add_frame(f"/world/robot/{body}", show_axes=False)
            name = f"/world/robot/{body}/{number}"
            # Shells of an STL share no vertices across sharp edges once they are decimated: flat shading is truer.
            mesh = scene.add_mesh_simple(name, vertices, faces, color=colour, flat_shading=True, side="double")
            self._meshes.append(mesh)
        return frames

    def _make_transparent(self) -> None:
        """Make the robot transparent or not, as the switch says: CoM, DCM and ZMP lie within it."""
        with self.server.atomic():
            for mesh in self._meshes:
                mesh.opacity = _OPACITY if self._is_transparent.value else None

    def _add_points(self) -> dict[str, viser.IcosphereHandle]:
        return {
            name: self.server.scene.add_icosphere(
                f"/world/{name}/point", _POINT_RADIUS, color=_rgb(colour), visible=False
            )
            for name, colour in _POINTS.items()
        }

    def _add_arrows(self) -> dict[Side, viser.ArrowsHandle]:
        return {side: self._add_arrow(f"/world/forces/{side}_foot", _rgb(FOOT[side])) for side in Side}

    def _add_arrow(self, name: str, colour: tuple[int, int, int]) -> viser.ArrowsHandle:
        return self.server.scene.add_arrows(
            name,
            np.zeros((1, 2, 3)),
            colour,
            shaft_radius=_SHAFT_RADIUS,
            head_radius=_HEAD_RADIUS,
            head_length=_HEAD_LENGTH,
            visible=False,
        )

    def _add_layer(self, title: str, path: str, is_shown: bool) -> None:
        """Add a frame, and the switch that shows what lies below it."""
        frame = self.server.scene.add_frame(path, show_axes=False, visible=is_shown)
        switch = self.server.gui.add_checkbox(title, is_shown)

        @switch.on_update
        def changed(_: Any) -> None:
            frame.visible = switch.value

    def _add_goal_mark(self) -> Callable[[NDArray, float | None, bool], None]:
        """Return what shows a goal on the floor: its place, its heading, whether it is one."""
        ball = self.server.scene.add_icosphere("/world/goal", _POINT_RADIUS, color=_GOAL, visible=False)
        arrow = self._add_arrow("/world/goal_heading", _GOAL)

        def mark(place: NDArray, yaw: float | None, is_goal: bool) -> None:
            ball.visible, arrow.visible = is_goal, is_goal and yaw is not None
            ball.position = (*place, self._ground_height + _POINT_RADIUS)
            if yaw is not None:
                tip = place + 0.3 * self._description.com_height * np.array([np.cos(yaw), np.sin(yaw)])
                ends = [[*place, self._ground_height + _LIFT], [*tip, self._ground_height + _LIFT]]
                arrow.points = np.array([ends], dtype=np.float32)

        return mark

    def _sole_on_body(self, side: Side) -> tuple[str, NDArray]:
        """Return the moving link under a foot, and the corners of the sole in its frame, [m], shape (4, 3)."""
        place = self._links.attachment(self._description.foot_frame(side))
        sole = Footprint(side, np.zeros(3), 0.0, 0.0).corners(self._description.sole)
        corners = np.column_stack([sole, np.full(4, self._description.sole.z)])
        return place.body, corners @ place.rotation.T + place.position

    def _add_polygon(self) -> viser.LineSegmentsHandle:
        return self.server.scene.add_line_segments(
            "/world/polygon/edge", np.zeros((1, 2, 3)), _rgb(ZMP), thickness=_OUTLINE, visible=False
        )

    def _show_polygon(self, poses: Mapping[str, NDArray], forces: Mapping[Side, tuple[NDArray, NDArray]]) -> None:
        """Show the hull of the soles that carry load, on the ground."""
        from scipy.spatial import ConvexHull

        least = _LOADED * self._description.mass * _GRAVITY
        loaded = [self._soles[side] for side, (_, force) in forces.items() if force[2] > least]
        self._polygon.visible = bool(loaded)
        if loaded:
            corners = np.vstack([points @ poses[body][:3, :3].T + poses[body][:3, 3] for body, points in loaded])
            edge = corners[ConvexHull(corners[:, :2]).vertices]
            edge[:, 2] = self._ground_height + _LIFT
            self._polygon.points = np.stack([edge, np.roll(edge, -1, axis=0)], axis=1)

    def _add_footprint(self, index: int, footprint: Footprint) -> viser.MeshHandle:
        corners = footprint.corners(self._description.sole)
        height = footprint.position[2] + self._description.sole.z + _LIFT
        return self.server.scene.add_mesh_simple(
            f"/world/footprints/{index}",
            np.column_stack([corners, np.full(4, height)]),
            np.array([[0, 1, 2], [0, 2, 3]]),
            color=_rgb(FOOT[footprint.side]),
            side="double",
            cast_shadow=False,
        )

    def _add_outline(self, index: int, footprint: Footprint) -> viser.LineSegmentsHandle:
        corners = footprint.corners(self._description.sole)
        height = footprint.position[2] + self._description.sole.z + _LIFT
        edge = np.column_stack([corners, np.full(4, height)])
        return self.server.scene.add_line_segments(
            f"/world/nominal_footprints/{index}",
            np.stack([edge, np.roll(edge, -1, axis=0)], axis=1),
            _rgb(FOOT[footprint.side]),
            thickness=_OUTLINE,
        )

    def _add_floor(self) -> viser.GridHandle:
        return self.server.scene.add_grid(
            "/world/floor",
            infinite_grid=True,
            cell_size=0.1,
            section_size=1.0,
            cell_color=(222, 226, 231),
            section_color=(178, 186, 196),
            fade_distance=14.0,
        )

    def _place_camera(self) -> None:
        size = self._description.com_height
        self.server.initial_camera.position = (1.7 * size, -2.1 * size, 1.7 * size)
        self.server.initial_camera.look_at = (0.0, 0.0, 0.75 * size)
        self.server.scene.set_up_direction("+z")

    def _follow(self, base: NDArray) -> None:
        if not self._follows.value:
            return
        way = base - self._middle
        self._middle = self._middle + way * (1.0 if np.hypot(*way) > _FOLLOW_JUMP else _FOLLOW_GAIN)
        self._world.position = (-self._middle[0], -self._middle[1], 0.0)


def _refuse_sharing(verbose: bool = True) -> None:
    """Take the place of viser's tunnel through a server of others."""


_NOWHERE = np.full(3, np.nan)
_LEGEND = "".join(
    f'<div style="padding:0 1em"><span style="color:{colour}">{sign}</span> {text}</div>'
    for sign, colour, text in (
        ("●", COM, "centre of mass"),
        ("●", DCM, "DCM, on the ground"),
        ("●", ZMP, "ZMP, on the ground"),
        ("▲", FOOT[Side.LEFT], "ground force on the left foot"),
        ("▲", FOOT[Side.RIGHT], "ground force on the right foot"),
        ("▭", FOOT[Side.LEFT], "planned foothold that step adaptation moved"),
        ("▬", FOOT[Side.LEFT], "footprints: where its odometry takes them to be; the robot: where it is, if simulated"),
    )
)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
