"""What holds for the sources of the library holds for those of the laboratory."""

import ast
from pathlib import Path

from test_package import FLAG, idle_texts, texts_of
from test_words import found, strings

SOURCES = {
    path.relative_to(root).as_posix(): path
    for root in [Path(__file__).parents[1] / "src" / "ensemblage_lab"]
    for path in sorted(root.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}
SHELL = ("_commands.py", "_benchmark.py", "_reproduce.py", "benchmark/_explorer.py")
"""What the shell calls, and the page of the leaderboard, which has commands to copy."""


def test_no_text_is_a_statement():
    assert {name: lines for name, tree in TREES.items() if (lines := list(idle_texts(tree)))} == {}


def test_only_the_shell_spells_flags():
    spelt = {name for name, tree in TREES.items() if any(FLAG.search(text) for text in texts_of(tree))}
    assert spelt <= set(SHELL)


def test_docstrings_and_messages_have_no_phrase_to_replace():
    said = [f"{name}: {what}" for name, path in SOURCES.items() for text in strings(path) for what in found(text)]
    assert said == []
