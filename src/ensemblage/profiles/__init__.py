"""What describes the clusters, from the original values: effects, typical objects, rules, tests."""

from ensemblage.profiles._honest import HonestMarkers, thin_counts
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile

__all__ = ["HonestMarkers", "Profile", "profile", "thin_counts"]
