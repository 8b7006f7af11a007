"""The former name of `ensemblage.consensus.diagnostics`."""

from ensemblage.base.renamed import former_names

__getattr__ = former_names("ensemblage.consensus.evidence")
