"""Data sets of the papers: what they generated."""

from ensemblage.datasets._ayad import make_2d2k, make_8d5k, make_two_gauss

__all__ = ["make_2d2k", "make_8d5k", "make_two_gauss"]
