"""What a client of a control board is opened with."""

from __future__ import annotations

from dataclasses import dataclass

from pureyarp.data.values import Searchable
from pureyarp.devices.dialect import Dialect
from pureyarp.devices.parameters import carrier, number, switch, text
from pureyarp.devices.thrift_dialect import ThriftDialect
from pureyarp.devices.vocab_dialect import VocabDialect
from pureyarp.errors import SettingsError
from pureyarp.network.settings import current_settings
from pureyarp.wire.elements import WireFamily

_DIALECTS: dict[WireFamily, type[Dialect]] = {WireFamily.YARP_3: VocabDialect, WireFamily.YARP_4: ThriftDialect}
_TIMEOUT = 0.5  # [s]


@dataclass(frozen=True, slots=True)
class RemoteControlBoardOptions:
    """What a client of a control board is opened with.

    Attributes:
        local: Beginning of the names of the client's ports.
        remote: Beginning of the names of the board's ports.
        dialect: How the board is spoken to.
        state_carrier: Of the state.
        command_carrier: Of the streamed commands.
        timeout: After which the last state counts as too old, [s].
        strict_single: Whether no command of a single joint may be replaced by a newer one before it left.
        strict_several: The same for commands of several joints.
        checks_protocol: Whether a board with another version of the protocol is refused.
    """

    local: str
    remote: str
    dialect: Dialect
    state_carrier: str
    command_carrier: str
    timeout: float = _TIMEOUT
    strict_single: bool = True
    strict_several: bool = False
    checks_protocol: bool = True

    @classmethod
    def read(cls, config: Searchable) -> RemoteControlBoardOptions:
        """Return what a configuration says; ``family`` (3 or 4) is ours, all else as in YARP."""
        dialect = _dialect(config)
        state_carrier = carrier(config, "carrier", dialect.default_carrier)
        has_two = dialect.family is WireFamily.YARP_4
        strict = switch(config, "writeStrict")
        return cls(
            local=text(config, "local"),
            remote=text(config, "remote"),
            dialect=dialect,
            state_carrier=state_carrier,
            command_carrier=carrier(config, "carrier_cmd", dialect.default_carrier) if has_two else state_carrier,
            timeout=number(config, "timeout", _TIMEOUT),
            strict_single=True if strict is None else strict,
            strict_several=False if strict is None else strict,
            checks_protocol=not config.check("ignoreProtocolCheck"),
        )


def _dialect(config: Searchable) -> Dialect:
    if not config.check("family"):
        return _DIALECTS[current_settings().family]()
    family = config.find("family").toString()
    try:
        return _DIALECTS[WireFamily(family)]()
    except ValueError as error:
        raise SettingsError(f"family={family} is no family of YARP (valid: 3, 4)") from error
