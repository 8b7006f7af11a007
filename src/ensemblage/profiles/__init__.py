"""What describes the clusters, from the original values: effects, typical objects, rules."""

from ensemblage.base.docs import fill_docstrings
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile

__all__ = ["Profile", "profile"]

fill_docstrings(globals()[name] for name in __all__)
