"""Stands in for the framework in tests: names and order of calls of its bindings, problems solved by DAQP."""
