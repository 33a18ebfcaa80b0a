"""A robot, its walking controller and its coordinator, ticked by any middleware."""
