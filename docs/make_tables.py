"""Write the tables of methods into the README from the registry: python docs/make_tables.py"""

from __future__ import annotations

import re
from pathlib import Path

from ensemblage import METHODS

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- methods: written by docs/make_tables.py -->\n", "<!-- end of methods -->\n"


def methods_table() -> str:
    """A row of Markdown per method: what it is, what it costs, who says the number of clusters."""
    lines = ["| name | paper, method | time | memory | number of clusters |", "|---|---|---|---|---|"]
    for name, method in METHODS.items():
        number = f"given, or {method.finds_k}" if method.finds_k else "given"
        names = ", ".join(f"`{one}`" for one in (name, *method.aliases))
        papers = "; ".join((method.paper, *(alias.paper for alias in method.aliases.values())))
        lines.append(f"| {names} | {papers} | {method.complexity} | {method.memory} | {number} |")
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """A document with the table between its marks."""
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    return re.sub(pattern, lambda _: BEGIN + methods_table() + END, text, flags=re.DOTALL)


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
