"""YARP in pure Python; `pureyarp.api` has its classes and functions under the bindings' names."""
