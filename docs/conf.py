"""How the site is built; docs/site.py puts the pages together and calls Sphinx."""

import tomllib
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

project = "deniable"
author = "The deniable authors"
release = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
exclude_patterns = ["README.md", "examples", "benchmarks/*.py"]
html_theme = "furo"
html_title = "deniable"
html_static_path = ["docs/static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#79b8ff", "color-brand-content": "#79b8ff"},
}
pygments_style = "default"
pygments_dark_style = "monokai"
nitpicky = False


def setup(app: Any) -> None:
    """Proof pages state their inequality in blocks of their own kind."""
    app.add_lexer("certificate", TextLexer)
    app.add_lexer("inequality", TextLexer)
