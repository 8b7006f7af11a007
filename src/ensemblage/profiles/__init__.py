"""What describes the clusters, from the original values: effects, typical objects, rules."""

from ensemblage.base.docs import fill_docstrings
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import ClusterProfile, Profile, VariableRow
from ensemblage.profiles._tree import Rule, Rules

__all__ = ["ClusterProfile", "Profile", "Rule", "Rules", "VariableRow", "profile"]

fill_docstrings(globals()[name] for name in __all__)
