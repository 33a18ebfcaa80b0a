"""Named vectors, as loggers of this field exchange them."""

from gradiva.middleware.vectors_collection.vectors_collection_client import VectorsCollectionClient, VectorsSample
from gradiva.middleware.vectors_collection.vectors_collection_server import VectorsCollectionServer

__all__ = ["VectorsCollectionClient", "VectorsCollectionServer", "VectorsSample"]
