from types import SimpleNamespace

import pytest

from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.outputs import PortOutputs


def test_a_connection_that_comes_after_the_end_is_closed():
    closed = []
    outputs = PortOutputs()
    outputs.close()
    with pytest.raises(PeerGone, match="closed while it was connected to /in"):
        outputs.add(SimpleNamespace(target="/in", close=lambda: closed.append(1)))
    assert closed == [1]
    assert len(outputs) == 0
