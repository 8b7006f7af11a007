"""The site: `nox -s docs`, or `sphinx-build -W --keep-going docs/site build/site`. Nothing is fetched."""

import os
import sys
from pathlib import Path

SITE = Path(__file__).parent
sys.path.insert(0, str(SITE / "_ext"))

import api  # noqa: E402

import ensemblage  # noqa: E402

project = "ensemblage"
author = "The ensemblage developers"
copyright = f"2026, {author}"
version = release = ensemblage.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",
    "records",
    "llms",
    "terms",
]
exclude_patterns = ["_ext", "_templates", "**/README.md"]
templates_path = ["_templates"]
default_role = "py:obj"

# Other projects' names are linked where there is a network and somebody asks for it.
if os.environ.get("ENSEMBLAGE_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
    }

api.write_pages(SITE / "api")
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the numpydoc sections say them
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline", "substitution"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True
myst_substitutions = {"release": release}
suppress_warnings = ["config.cache"]  # values of this file that are functions are not pickled

html_theme = "pydata_sphinx_theme"
html_title = f"ensemblage {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(SITE / "_static" / "scorer.js")
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "ensemblage", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "github_url": "https://github.com/ensemblage/ensemblage",
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["this-version"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    name: [] for name in ("index", "start", "which", "faq", "changelog", "glossary", "cheatsheet", "review")
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

os.environ.setdefault("PYTHONWARNINGS", "ignore::DeprecationWarning")


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The file on GitHub, at the commit that is built, where the build says which, else at the version's tag."""
    state = os.environ.get("GITHUB_SHA", f"v{release}")
    return api.source_of(info["module"], info["fullname"], state) if domain == "py" else None


def setup(app):
    app.connect("autodoc-skip-member", api.skip_member)
    app.connect("autodoc-process-docstring", api.escape_marks, priority=900)
