"""How readable the pages are: python docs/readability.py [FOLDER OF ANOTHER CHECKOUT]

A row per group of pages: words, words per sentence, share of sentences over 25 words, share of sentences with a
passive verb, and Flesch's reading ease (100 is easy, 30 academic). Code, tables, formulas and headings are left out.
Syllables and passives are counted by simple rules, so compare rows and checkouts, not single sentences.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MADE = {"BENCHMARKS.md", "CONFIDENCE.md", "DEFAULT.md", "LEADERBOARD.md", "RELIABILITY.md", "API.md", "voting.md"}
"""Documents written by scripts or by hand from runs; they are one group of their own."""
LONG = 25
BE = r"(?:am|is|are|was|were|be|been|being)"
IRREGULAR = "made|found|given|taken|drawn|known|shown|told|kept|left|put|read|seen|written|built|held|cut|done|said|set"
PASSIVE = re.compile(rf"\b{BE}\s+(?:\w+ly\s+|not\s+|also\s+|never\s+)?(?:\w{{2,}}ed|{IRREGULAR})\b", re.IGNORECASE)


class Readability(NamedTuple):
    """What is counted in a text."""

    words: int
    per_sentence: float
    long: float
    passive: float
    ease: float


def prose(text: str) -> str:
    """The sentences of a page: without its head, code, tables, formulas, headings and the marks of links.

    A name in code that begins a sentence begins with a capital letter, so that the sentence before it ends.
    """
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^[ >]*(`{3,}|:{3,}).*?^[ >]*\1[ ]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$|<!--.*?-->", " ", text, flags=re.DOTALL)
    text = re.sub(r"^(\||#|!\[|\(\S+\)=).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"([.!?]\s+|^)\W*`\W*(\w)", lambda found: found[1] + found[2].upper(), text)
    text = re.sub(r"\{py:obj\}|`|\*|\$[^$\n]+\$", " ", text)
    return re.sub(r"^\s*(?:[-:]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence of four words or more; a paragraph or an item of a list ends one, too."""
    found = []
    for paragraph in re.split(r"\n\s*\n", prose(text)):
        for sentence in re.split(r"(?<=[.!?])[\"')]*\s+(?=[A-Z\"'(0-9])", " ".join(paragraph.split())):
            words = re.findall(r"[A-Za-zÀ-ÿ][\w'’-]*", sentence)
            if len(words) >= 4:
                found.append(words)
    return found


def syllables(word: str) -> int:
    """Groups of vowels, a silent e left out."""
    groups = len(re.findall(r"[aeiouyäöü]+", re.sub(r"(?<=[^laeiouy])e$", "", word.lower())))
    return max(groups, 1)


def readability(texts: list[str]) -> Readability:
    """Of all sentences of some pages."""
    found = [words for text in texts for words in sentences(text)]
    n_words = sum(map(len, found))
    per_sentence = n_words / len(found)
    long = sum(len(words) > LONG for words in found) / len(found)
    passive = sum(bool(PASSIVE.search(" ".join(words))) for words in found) / len(found)
    spoken = sum(syllables(word) for words in found for word in words) / n_words
    return Readability(n_words, per_sentence, long, passive, 206.835 - 1.015 * per_sentence - 84.6 * spoken)


def groups(root: Path) -> dict[str, list[Path]]:
    """The pages by what they are for."""
    site = root / "docs" / "site"
    pages = {"README": [root / "README.md"], "front pages": sorted(site.glob("*.md"))}
    for folder in ("tutorials", "howto", "theory", "gallery", "evidence"):
        pages[folder] = sorted((site / folder).glob("*.md"))
    documents = sorted((root / "docs").glob("*.md"))
    pages["documents by hand"] = [path for path in documents if path.name not in MADE]
    pages["documents by scripts and of runs"] = [path for path in documents if path.name in MADE]
    return pages


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    rows = {name: [path.read_text(encoding="utf-8") for path in paths] for name, paths in groups(root).items()}
    rows["README and site"] = [text for name, some in rows.items() if not name.startswith("documents") for text in some]
    print(f"| {'pages':32} | words | words a sentence | over {LONG} words | passive | Flesch |")
    print("|---|---|---|---|---|---|")
    for name, texts in rows.items():
        words, per_sentence, long, passive, ease = readability(texts)
        print(f"| {name:32} | {words:,} | {per_sentence:.1f} | {long:.0%} | {passive:.0%} | {ease:.0f} |")


if __name__ == "__main__":
    main()
