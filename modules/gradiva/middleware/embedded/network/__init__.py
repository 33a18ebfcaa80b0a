"""Names, ports and connections."""
