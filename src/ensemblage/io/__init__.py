"""Tables with roles, features of them in memory and on disk, and posterior draws; files are read by `tables`."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names

__all__: list[str] = []

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
