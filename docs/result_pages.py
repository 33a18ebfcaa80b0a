"""Directive of pages that show results: ``{result}``."""

from __future__ import annotations

from typing import Any

from reference_pages.results import (
    BANDS,
    PEERS,
    PUBLISHED,
    RESULTS,
    RUNS,
    UNPUBLISHED,
    bands_text,
    peers_text,
    published_paths,
    published_text,
    recorded_text,
    runs_text,
    unpublished_text,
)
from sphinx.util.docutils import SphinxDirective


class Result(SphinxDirective):
    """Show a recorded table (``{result} FILE TABLE``), its origin (``{result} FILE``), published runs, or bands.

    ``{result} runs NAME PATTERN`` shows those whose command has the pattern, a regular expression.
    """

    required_arguments, optional_arguments = 1, 2
    final_argument_whitespace = True

    def run(self) -> list:
        """Return the nodes of the table, which is read again when its file has changed."""
        name = self.arguments[0]
        made = {PUBLISHED: published_text, UNPUBLISHED: unpublished_text, BANDS: bands_text, PEERS: peers_text}
        for path in published_paths() if name in (PUBLISHED, UNPUBLISHED, BANDS, RUNS) else [RESULTS / f"{name}.json"]:
            self.env.note_dependency(str(path))
        if name == RUNS:
            text = runs_text(*self.arguments[1:])
        else:
            text = made[name]() if name in made else recorded_text(*self.arguments)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Any) -> dict[str, bool]:
    """Add the directive to Sphinx."""
    app.add_directive("result", Result)
    app.connect(
        "env-get-outdated", lambda *_: ["results/published", "results/usual"]
    )  # a run is a file that no page knows yet
    return {"parallel_read_safe": True}
