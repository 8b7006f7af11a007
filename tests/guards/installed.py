"""Say where ensemblage was imported from, and fail if that is the checkout: the wheel is what is to be tested."""

import sys
from pathlib import Path

import ensemblage

place = Path(ensemblage.__file__).resolve()
if place.is_relative_to(Path(__file__).resolve().parents[2] / "src"):
    sys.exit(f"{place} is the checkout, not the wheel.")
print(f"ensemblage {ensemblage.__version__} from {place.parent}")
