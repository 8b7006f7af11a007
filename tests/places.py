"""Where the checkout has what tests read, and `FILES`, the files that they keep."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
FILES = TESTS / "files"
WINE = ROOT / "examples" / "wine.csv"
