"""A finished analysis as a dict of numbers, and as one HTML file that shows them."""

from ensemblage.report._build import build, render
from ensemblage.report._summary import summarize

__all__ = ["build", "render", "summarize"]
