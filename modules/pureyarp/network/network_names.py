"""Names of ports, as a process asks for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from pureyarp.data.ini import YarpFolders
from pureyarp.data.values import Value, value_of
from pureyarp.errors import NetworkError
from pureyarp.network.contact import Contact
from pureyarp.network.current_settings import current_settings, use_settings
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.name_lines import CHOOSE

_DEFAULT_PORT_RANGE = 10000


class NetworkNames:
    """The functions of `Network` on names and on the name server."""

    @staticmethod
    def queryName(name: str) -> Contact:
        """Return where a port is; an invalid contact if that is not known."""
        given = Contact.fromString(name)
        return given if given.isValid() else _asked(lambda names: names.query(given.getRegName()))

    @staticmethod
    def registerName(name: str) -> Contact:
        """Register a name; the name server chooses its port number."""
        return _asked(lambda names: names.register(name))

    @staticmethod
    def registerContact(contact: Contact) -> Contact:
        """Register a name at an address."""
        return _asked(
            lambda names: names.register(
                contact.getRegName() or CHOOSE, contact.getCarrier(), contact.getHost(), contact.getPort()
            )
        )

    @staticmethod
    def unregisterName(name: str) -> Contact:
        """Let the name server forget a name; returns an invalid contact."""
        return _asked(lambda names: names.unregister(name))

    @staticmethod
    def unregisterContact(contact: Contact) -> Contact:
        """Let the name server forget a name; returns an invalid contact."""
        return NetworkNames.unregisterName(contact.getRegName())

    @staticmethod
    def setProperty(name: str, key: str, value: Value) -> bool:
        """Set a property of a registered port."""
        element = value.element
        try:
            return NameClient(current_settings()).set_property(name, key, *([] if element is None else [element]))
        except NetworkError as error:
            log.warning("property %s of %s was not set: %s", key, name, error)
            return False

    @staticmethod
    def getProperty(name: str, key: str) -> Value:
        """Return the first value of a property of a registered port; a null value without port or property."""
        try:
            names = NameClient(current_settings())
            values = names.get_property(name, key) if names.query(name).isValid() else []
        except NetworkError as error:
            log.warning("property %s of %s is not known: %s", key, name, error)
            values = []
        return value_of(values[0] if values else None)

    @staticmethod
    def isValidPortName(portName: str) -> bool:
        """Return whether a port may be called so: ``/...`` without blanks, or ``...`` for an anonymous one."""
        if portName == CHOOSE:
            return True
        is_rooted = portName.startswith("/") and not portName.endswith("/")
        return is_rooted and not any(character.isspace() for character in portName)

    @staticmethod
    def getNameServerName() -> str:
        """Return the name server's own name."""
        return current_settings().namespace

    @staticmethod
    def setNameServerName(name: str) -> bool:
        """Change which name the name server has; its address stays."""
        use_settings(replace(current_settings(), namespace=name))
        return True

    @staticmethod
    def getNameServerContact() -> Contact:
        """Return where the name server should be."""
        settings = current_settings()
        return Contact(settings.namespace, "tcp", settings.name_server_host, settings.name_server_port)

    @staticmethod
    def setNameServerContact(nameServerContact: Contact) -> bool:
        """Change where this process looks for the name server; no file is written."""
        contact = nameServerContact
        use_settings(
            replace(
                current_settings(),
                namespace=contact.getRegName() or current_settings().namespace,
                name_server_host=contact.getHost(),
                name_server_port=contact.getPort(),
                found_in="setNameServerContact",
            )
        )
        return True

    @staticmethod
    def getConfigFile(fname: str) -> str:
        """Return the path of a file in YARP's folder of the user's configuration; it need not exist."""
        return str(YarpFolders.of(os.environ).config_home / fname)

    @staticmethod
    def getDefaultPortRange() -> int:
        """Return the name server's usual TCP port."""
        return _DEFAULT_PORT_RANGE


def _asked(question: Callable[[NameClient], Contact | None]) -> Contact:
    """Return the name server's answer, an invalid contact if there is none."""
    try:
        return question(NameClient(current_settings())) or Contact()
    except NetworkError as error:
        log.warning("%s", error)
        return Contact()
