"""Write docs/site/_static/leaderboard.html, the sortable page of the leaderboard, from stored tables alone.

python lab/scripts/make_board.py [--generated OUT] [--submission FILE]

The tables are in lab/records/leaderboard, with its folders generated and submissions. --generated takes the tables of a
run on the generated sets from OUT. --submission checks the results of a method, and takes them in.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from ensemblage.base.text import write_text
from ensemblage_lab.benchmark._explorer import render_leaderboard, with_submissions
from ensemblage_lab.benchmark._run import PROTOCOL
from ensemblage_lab.benchmark._submission import read_submission
from ensemblage_lab.benchmark._tables import FILES, POINTS, StoredBoard, StoredLine, read_board

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "lab" / "records" / "leaderboard"
GENERATED, SUBMISSIONS = TABLES / "generated", TABLES / "submissions"
PAGE = ROOT / "docs" / "site" / "_static" / "leaderboard.html"


def boards() -> list[StoredBoard]:
    """That of the sets from files, and that of the generated sets."""
    return [read_board(TABLES), read_board(GENERATED)]


def page() -> str:
    """The page, with the submitted methods."""
    stored = boards()
    lines = [line for file in sorted(SUBMISSIONS.glob("*.json")) for line in submitted(file, stored)]
    return render_leaderboard(*(with_submissions(board, lines) for board in stored))


def submitted(file: Path, stored: list[StoredBoard]) -> list[StoredLine]:
    """The lines of a submission; one that is not as it must be is refused."""
    return read_submission(file, PROTOCOL, {one.name: one.n for board in stored for one in board.sets})


def take_submission(file: Path) -> Path:
    """Keep a submission that passes the checks, under the names of its methods; an earlier one of them is replaced."""
    lines = submitted(file, boards())
    name = re.sub(r"\W+", "_", "_".join(dict.fromkeys(line.entry for line in lines)))[:80]
    SUBMISSIONS.mkdir(exist_ok=True)
    return Path(shutil.copyfile(file, SUBMISSIONS / f"{name}.json"))


def take_generated(out: Path) -> None:
    """Keep the tables of a run on the generated sets."""
    read_board(out)
    GENERATED.mkdir(exist_ok=True)
    for name in (*FILES, POINTS):
        shutil.copyfile(out / name, GENERATED / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generated", type=Path)
    parser.add_argument("--submission", type=Path)
    given = parser.parse_args()
    try:
        if given.generated is not None:
            take_generated(given.generated)
        if given.submission is not None:
            print(take_submission(given.submission))
        write_text(PAGE, page())
    except (OSError, ValueError) as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
