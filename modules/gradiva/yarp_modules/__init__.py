"""The layers as YARP modules: planner, model control, whole body, and what belongs to them."""

from gradiva.yarp_modules.message_codec import MessageCodec

__all__ = ["MessageCodec"]
