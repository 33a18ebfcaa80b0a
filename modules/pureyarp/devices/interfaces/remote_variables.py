"""Variables that the device behind the board gives names to."""

from __future__ import annotations

from gradiva.middleware.control_board.feature import Feature
from pureyarp.data.values import Bottle
from pureyarp.devices.control_board_view import ControlBoardView


class IRemoteVariables(ControlBoardView):
    """Variables that the device behind the board gives names to."""

    def getRemoteVariable(self, key: str, val: Bottle) -> bool:
        """Put the values of a variable into ``val``."""
        return _put(self._board.ask(Feature.REMOTE_VARIABLE, key), val)

    def setRemoteVariable(self, key: str, val: Bottle) -> bool:
        """Give a variable the values of ``val``."""
        return self._board.tell(Feature.REMOTE_VARIABLE, key, list(val.items))

    def getRemoteVariablesList(self, listOfKeys: Bottle) -> bool:
        """Put the names of all variables into ``listOfKeys``."""
        return _put(self._board.ask(Feature.REMOTE_VARIABLES), listOfKeys)


def _put(answer: object, destination: Bottle) -> bool:
    values = answer[0] if isinstance(answer, list) and answer else None
    if not isinstance(values, list):
        return False
    destination.clear()
    destination.items.extend(values)
    return True
