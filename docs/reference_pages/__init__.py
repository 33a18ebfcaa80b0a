"""Writes the reference pages of the site from the code.

Nothing of a page is typed by hand but its introduction: `pages` is called when the site is built, and by a test that
counts.
"""

from pathlib import Path

from reference_pages.commands import command_pages
from reference_pages.configuration import configuration_pages
from reference_pages.frames import frames_page
from reference_pages.interfaces import error_page, plugin_page, python_pages, result_page, rpc_page
from reference_pages.signals import signal_page
from reference_pages.stability import interface_page


def pages() -> dict[str, str]:
    """Return the text of each generated page, by its name without ending."""
    return {
        **command_pages(),
        **configuration_pages(),
        "signals": signal_page(),
        "frames": frames_page(),
        "rpc": rpc_page(),
        "results": result_page(),
        "errors": error_page(),
        "plugins": plugin_page(),
        **python_pages(),
        "interface": interface_page(),
    }


def write_pages(folder: Path) -> None:
    """Write the pages whose text has changed, and remove those that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / f"{name}.md": text for name, text in pages().items()}
    for path in folder.glob("*.md"):
        if path not in texts:
            path.unlink()
    for path, text in texts.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
