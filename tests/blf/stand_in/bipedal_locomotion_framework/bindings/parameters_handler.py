"""Parameters by name; a value of another type than its setter's is refused, as the bindings do."""

from datetime import timedelta


class StdParametersHandler:
    def __init__(self):
        self.values = {}

    def set_group(self, name, handler):
        self.values[name] = handler.values
        return True


def _setter(kind, is_vector):
    def setter(self, name, value):
        for each in value if is_vector else [value]:
            if type(each) is not kind:
                raise TypeError(f"{name}: {each!r} is no {kind.__name__}")
        self.values[name] = list(value) if is_vector else value

    return setter


for _name, _kind in {"bool": bool, "int": int, "float": float, "string": str, "datetime": timedelta}.items():
    setattr(StdParametersHandler, f"set_parameter_{_name}", _setter(_kind, False))
    if _kind is not timedelta:
        setattr(StdParametersHandler, f"set_parameter_vector_{_name}", _setter(_kind, True))
