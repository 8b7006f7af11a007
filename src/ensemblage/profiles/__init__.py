"""What describes the clusters, from the original values: effects, typical objects, rules, tests."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names

__all__: list[str] = []

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
