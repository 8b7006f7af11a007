"""A finished analysis as a dict of numbers, and as one HTML file that shows them."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names
from ensemblage.report._build import build, render, save_figures
from ensemblage.report._summary import summarize

__all__ = ["build", "render", "save_figures", "summarize"]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
