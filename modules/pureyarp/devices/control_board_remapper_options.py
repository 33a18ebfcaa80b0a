"""What a part that is put together from several boards is opened with."""

from __future__ import annotations

from dataclasses import dataclass

from pureyarp.data.values import Property, Searchable, Value
from pureyarp.devices.parameters import text, texts
from pureyarp.devices.remote_control_board_options import RemoteControlBoardOptions

_GROUP = "REMOTE_CONTROLBOARD_OPTIONS"


@dataclass(frozen=True, slots=True)
class ControlBoardRemapperOptions:
    """What a part that is put together from several boards is opened with.

    Attributes:
        axes: Names of the part's joints, in its order.
        boards: How each board is opened.
    """

    axes: tuple[str, ...]
    boards: tuple[RemoteControlBoardOptions, ...]

    @classmethod
    def read(cls, config: Searchable) -> ControlBoardRemapperOptions:
        """Return what axesNames, remoteControlBoards, localPortPrefix and the group of options say."""
        prefix = text(config, "localPortPrefix")
        remotes = texts(config, "remoteControlBoards")
        common = config.findGroup(_GROUP)
        boards = tuple(RemoteControlBoardOptions.read(_of_one(common, prefix, remote)) for remote in remotes)
        return cls(tuple(texts(config, "axesNames")), boards)


def _of_one(common: Searchable, prefix: str, remote: str) -> Property:
    config = Property()
    for key in ("carrier", "carrier_cmd", "timeout", "writeStrict", "ignoreProtocolCheck", "family"):
        if common.check(key):
            config.put(key, common.find(key))
    config.put("local", Value(prefix + remote))
    config.put("remote", Value(remote))
    return config
