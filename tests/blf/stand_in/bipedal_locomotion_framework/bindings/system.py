"""Variables of a problem."""


class VariablesHandler:
    def __init__(self):
        self.spans, self.size = {}, 0

    def add_variable(self, name, size):
        if name in self.spans:
            return False
        self.spans[name] = slice(self.size, self.size + size)
        self.size += size
        return True
