"""Gradiva beside its peers: the same ticks, solved by each, with time, violation and distance to the optimum."""
