"""Sphinx: what site/make.py stages."""

import os
import re

project = "Tessera"
author = "the authors of Tessera"
project_copyright = author
version = release = os.environ["TESSERA_SITE_VERSION"]
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
breathe_projects = {"tessera": os.environ["TESSERA_SITE_XML"]}
breathe_default_project = "tessera"
breathe_domain_by_extension = {"h": "c"}
autodoc_mock_imports = ["tessera._binding", "tessera._words"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
# C is read as doxygen has it; types of the standard library have no page, and lexers do not know every text.
suppress_warnings = ["misc.highlighting_failure", "myst.header", "duplicate_declaration.c", "docutils"]
html_theme = "furo"
html_title = f"Tessera {version}"
html_copy_source = False
html_show_sphinx = False
html_static_path = [os.environ["TESSERA_SITE_STATIC"]]
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False}


def escape(_app, _what, _name, _object, _options, lines):
    """A name such as lambda_ is no reference."""
    lines[:] = [re.sub(r"\b(\w+)_(?!\w)", r"\1\\_", line) for line in lines]


def setup(app):
    """Docstrings as they are written."""
    app.connect("autodoc-process-docstring", escape)
