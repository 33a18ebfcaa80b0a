"""Devices behind other processes' ports: control boards and analog sensors."""
