"""A finished analysis as a dict of numbers, and as one HTML file that shows them."""

from ensemblage.report._build import Report, build, render, save_figures
from ensemblage.report._summary import summarize

__all__ = ["Report", "build", "render", "save_figures", "summarize"]
