"""What describes the clusters, from the original values: effects, typical objects, rules, tests."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile
from ensemblage.profiles._selective import SelectiveMarkers, thin_counts

__all__ = ["Profile", "SelectiveMarkers", "profile", "thin_counts"]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
