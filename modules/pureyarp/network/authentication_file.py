"""The file that holds the shared key of the port authentication."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pureyarp.data.ini import YarpFolders, read_ini
from pureyarp.errors import SettingsError

FILE_NAME = "auth.conf"


def authentication_key(environment: Mapping[str, str]) -> bytes | None:
    """Return the key of ``[AUTH]`` in the first ``auth.conf`` on YARP's way of looking for files, None without one."""
    path = _find(environment)
    if path is None:
        return None
    for group in read_ini(path, environment) or []:
        if not isinstance(group, list) or not group or group[0] != "AUTH":
            continue
        for entry in group[1:]:
            if isinstance(entry, list) and len(entry) == 2 and entry[0] == "key":
                return str(entry[1]).encode("utf-8", "surrogateescape")
    raise SettingsError(f'{path}: it must have a group [AUTH] with a line: key "the shared secret"')


def _find(environment: Mapping[str, str]) -> Path | None:
    folders = YarpFolders.of(environment).standard
    robot = Path("robots", environment.get("YARP_ROBOT_NAME") or "default")
    places = [Path(), *(folder / robot for folder in folders), *folders]
    return next((place / FILE_NAME for place in places if (place / FILE_NAME).is_file()), None)
