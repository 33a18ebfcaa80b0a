"""YARP in pure Python: the part of its interface that Gradiva uses, with the names of the real Python bindings."""

from __future__ import annotations

from gradiva.middleware.embedded.application.resource_finder import ResourceFinder
from gradiva.middleware.embedded.data.bottle import Bottle
from gradiva.middleware.embedded.data.connection_reader import ConnectionReader
from gradiva.middleware.embedded.data.connection_writer import ConnectionWriter
from gradiva.middleware.embedded.data.portable import Portable
from gradiva.middleware.embedded.data.property import Property
from gradiva.middleware.embedded.data.searchable import Searchable
from gradiva.middleware.embedded.data.stamp import Stamp
from gradiva.middleware.embedded.data.standard_vectors import BVector, DVector, IVector
from gradiva.middleware.embedded.data.value import Value
from gradiva.middleware.embedded.data.vector import Vector
from gradiva.middleware.embedded.data.vocab_arguments import decode, encode
from gradiva.middleware.embedded.network.contact import Contact
from gradiva.middleware.embedded.network.contact_style import ContactStyle

__all__ = [
    "BVector",
    "Bottle",
    "ConnectionReader",
    "ConnectionWriter",
    "Contact",
    "ContactStyle",
    "DVector",
    "IVector",
    "Portable",
    "Property",
    "ResourceFinder",
    "Searchable",
    "Stamp",
    "Value",
    "Vector",
    "decode",
    "encode",
]
