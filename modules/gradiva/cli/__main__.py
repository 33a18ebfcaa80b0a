"""``python -m gradiva.cli`` is the ``gradiva`` command."""

from gradiva.cli.main import main

main()
