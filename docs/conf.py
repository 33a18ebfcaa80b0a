"""Settings of the site: Sphinx with MyST; the pages below reference/generated are written from the code first."""

import logging
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from reference_pages import write_pages  # noqa: E402

import gradiva  # noqa: E402

# A root logger with a handler keeps accessible-pygments, of the theme, from making it print each line of information.
_warnings = logging.StreamHandler()
_warnings.setLevel(logging.WARNING)
logging.getLogger().addHandler(_warnings)

project = "Gradiva"
author = "The Gradiva developers"
project_copyright = f"2026, {author}"
version = release = gradiva.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    "sphinx-mathjax-offline",
    "result_pages",
]
exclude_patterns = ["reference_pages", "_static", "jupyter"]
nitpicky = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "docs-cache")
nb_execution_timeout = 240
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_ipywidgets_js = {}  # nothing is loaded from elsewhere
nb_merge_streams = True

bibtex_bibfiles = ["sources.bib"]
bibtex_default_style = "unsrt"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Gradiva"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
copybutton_prompt_text = r"^\$ "
copybutton_prompt_is_regexp = True

write_pages(HERE / "reference" / "generated")
