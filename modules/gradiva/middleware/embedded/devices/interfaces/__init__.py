"""The interfaces of devices, with the names that YARP gives them."""
