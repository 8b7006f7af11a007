"""What was decided before the work began, and why."""

from collections.abc import Mapping
from typing import Any

from ensemblage.choices._plan import Plan, value_text
from ensemblage.plotting._axes import printable
from ensemblage.report._layout import Section, Table
from ensemblage.report._ranking import short_repr

WORDS = {
    "roles": "Columns",
    "scales": "Scales",
    "n_clusters": "Number of clusters",
    "members": "Partitions by",
    "combiner": "Combined by",
    "samples": "Samples",
    "certainty": "Votes on each object",
    "stability": "Resamples clustered again",
}
"""What the decisions are called on the page."""


def plan_summary(plan: Any) -> dict[str, Any] | None:
    """What the summary holds of a plan."""
    if not isinstance(plan, Plan | None):
        raise TypeError(
            f"plan of report must be what default_plan returned. Got {short_repr(plan)}. Give that, or leave it out."
        )
    return None if plan is None else plan.to_dict()


def plan_section(summary: Mapping[str, Any]) -> Section | None:
    """The decisions, each with its reason."""
    plan = summary.get("plan")
    if not plan:
        return None
    decisions = [(word, plan[name]) for name, word in WORDS.items()]
    rows = [[word, printable(f"{value_text(d['value'])}. {d['reason']}", 800)] for word, d in decisions]
    table = Table("", (), rows, text=(0, 1), wide=True)
    sentence = "These decisions followed from the table and from what was asked for, before anything was clustered."
    return Section("What was decided before the work began", [sentence], tables=[table])
