"""Directive of pages that show results: ``{result}``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_pages.results import (
    BANDS,
    NOT_REACHED,
    PEERS,
    PEERS_FILE,
    PUBLISHED,
    RUNS,
    UNPUBLISHED,
    bands_text,
    not_reached_text,
    peers_text,
    published_paths,
    published_text,
    runs_text,
    unpublished_text,
)
from sphinx.util.docutils import SphinxDirective


class Result(SphinxDirective):
    """Show published runs: all, those that are missing, what is not reached, or bands.

    ``{result} runs NAME PATTERN`` shows those of an experiment whose command has the pattern, a regular expression.
    """

    required_arguments, optional_arguments = 1, 2
    final_argument_whitespace = True

    def run(self) -> list:
        """Return the nodes of the tables, which are read again when a file has changed."""
        for path in (*published_paths(), PEERS_FILE):
            self.env.note_dependency(str(path))
        made: dict[str, Callable[..., str]] = {
            PUBLISHED: published_text,
            UNPUBLISHED: unpublished_text,
            NOT_REACHED: not_reached_text,
            BANDS: bands_text,
            PEERS: peers_text,
            RUNS: runs_text,
        }
        text = made[self.arguments[0]](*self.arguments[1:])
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _pages_of_results(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Return the pages that are read again in each build: a new run is a file that no page knows yet."""
    others = ("how_to/tune", "robots/campaigns", "robots/ergocub")
    return [page for page in env.found_docs if page.startswith("results/") or page in others]


def setup(app: Any) -> dict[str, bool]:
    """Add the directive to Sphinx."""
    app.add_directive("result", Result)
    app.connect("env-get-outdated", _pages_of_results)
    return {"parallel_read_safe": True}
