"""A disk that is full at a size: no file of this process grows beyond it."""

import resource
from contextlib import contextmanager


@contextmanager
def full_at(size):
    """Refuse what would make any file larger than ``size`` bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
