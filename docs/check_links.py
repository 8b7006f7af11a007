"""Follow the local links of the built site; nothing may be fetched: python docs/check_links.py build/site"""

import html
import re
import sys
from functools import cache
from pathlib import Path


@cache
def anchors(page: Path) -> frozenset[str]:
    """The ids of a page."""
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8")))


def broken(page: Path) -> list[str]:
    """What is wrong with the links of a page."""
    text, found = page.read_text(encoding="utf-8"), []
    for link in sorted(set(re.findall(r'(?:href|src)="([^"]+)"', text))):
        path, _, anchor = html.unescape(link).partition("#")
        if re.match(r"[a-z]+:|//", path):
            if re.search(r"\.(css|js)$", path):
                found.append(f"{page}: {link} is fetched from elsewhere")
            continue
        target = (page.parent / path.partition("?")[0]).resolve() if path else page.resolve()
        if not target.exists() or (anchor and target.suffix == ".html" and anchor not in anchors(target)):
            found.append(f"{page}: {link} leads nowhere")
    return found


if __name__ == "__main__":
    pages = [page for page in Path(sys.argv[1]).rglob("*.html") if "_static" not in page.parts]
    wrong = [line for page in pages for line in broken(page)]
    sys.exit("\n".join(wrong) if wrong else None)
