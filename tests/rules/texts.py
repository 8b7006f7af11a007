"""The texts that rules are about, by their paths: pages and sources; and the scripts that write or show them."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS, LAB = ROOT / "docs", ROOT / "lab"
SITE = DOCS / "site"


def texts_of(paths):
    """Path from the root of the repository → text."""
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


SITE_PAGES = texts_of(path for path in SITE.rglob("*.md") if "api" not in path.relative_to(SITE).parts)
DOCUMENTS = texts_of(DOCS.glob("*.md"))
PAGES = texts_of(ROOT.glob("*.md")) | DOCUMENTS | SITE_PAGES
SOURCES = texts_of([*(ROOT / "src" / "ensemblage").rglob("*.py"), *(LAB / "src").rglob("*.py")])
README = PAGES["README.md"]


def flat(text):
    """A text without breaks of lines."""
    return " ".join(text.split())


def script(path):
    """A file of the repository as a module; it may import those beside it."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str((ROOT / path).parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module
