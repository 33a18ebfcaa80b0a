"""YARP in pure Python; `gradiva.middleware.embedded.api` has its classes and functions under the bindings' names."""
