"""What modules are made of: where their files are, their life from configure to close, periodic threads."""
