"""The names of each shipped robot that tasks, commands and configuration may use: joints, links, further frames."""

from gradiva.robot_model import IdynTreeModel
from gradiva.setup import installed_robot_names, load_setup
from reference_pages.markdown import code

_INTRODUCTION = """# Frames and joints

Generated from the robots' models. Tasks (`FrameTask("l_hand")`), contacts and pushes (`--push`) name a frame; faults of
encoders and motors (`--fault`) and tables of joints name a joint. Of any robot, also your own, they are listed by

```python
robot = gradiva.load_robot("icub_v2_7")
robot.frame_names  # links, then frames that the URDF fixes to them
robot.description.joints  # in the order of all joint vectors
```

A joint that is not here is locked at zero in the walk; its link is part of the one before, and stays as a frame.
"""


def frames_page() -> str:
    """Return the page."""
    return "\n".join([_INTRODUCTION, *map(_section, installed_robot_names())])


def names_of(robot: str) -> dict[str, list[str]]:
    """Return joints, links and further frames of a robot."""
    description = load_setup(robot).robot
    tree = IdynTreeModel(description)
    frames, links = tree.frame_names, tree.model.getNrOfLinks()
    return {"Joints": list(description.joints), "Links": frames[:links], "Further frames": frames[links:]}


def _section(robot: str) -> str:
    lines = [f"## {robot}\n"]
    for kind, names in names_of(robot).items():
        lines.append(f"**{kind}** ({len(names)}): {', '.join(map(code, names)) or 'none'}.\n")
    torso = load_setup(robot).robot.torso_frame
    lines.append(f"`torso` of a push is {code(torso)}.\n")
    return "\n".join(lines)
