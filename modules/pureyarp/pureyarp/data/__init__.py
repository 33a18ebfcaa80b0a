"""Objects that ports carry, under the names of the bindings, and the files that configure programs."""

from pureyarp.data.conversions import as_integer, checked_bool, checked_integer, decode, encode
from pureyarp.data.ini import YarpFolders, parse_command_line, parse_ini, read_ini
from pureyarp.data.streams import ConnectionReader, ConnectionWriter, Portable, Stamp, line_of, now, use_time_source
from pureyarp.data.values import Bottle, Property, Searchable, Value, value_of
from pureyarp.data.vectors import BVector, DVector, IVector, StandardVector, Vector

__all__ = [
    "BVector",
    "Bottle",
    "ConnectionReader",
    "ConnectionWriter",
    "DVector",
    "IVector",
    "Portable",
    "Property",
    "Searchable",
    "Stamp",
    "StandardVector",
    "Value",
    "Vector",
    "YarpFolders",
    "as_integer",
    "checked_bool",
    "checked_integer",
    "decode",
    "encode",
    "line_of",
    "now",
    "parse_command_line",
    "parse_ini",
    "read_ini",
    "use_time_source",
    "value_of",
]
