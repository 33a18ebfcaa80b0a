"""Bytes and text of YARP messages; no sockets."""
