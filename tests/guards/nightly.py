"""All tests, the slow ones too, file by file: what is done stays done when a run is stopped, and failures are named.

python tests/guards/nightly.py                   runs what is not done yet at this commit, and says what failed
python tests/guards/nightly.py --shard 2/4       only every fourth file from the second on, for machines side by side
python tests/guards/nightly.py -- -m slow        options after -- are pytest's; other options are another run

Logs are in build/nightly/COMMIT, one of each file of tests. A file that failed is run again by the next call.
"""

import argparse
import hashlib
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DONE = (0, 5)
"""Exit codes of pytest: all passed, or there was nothing to run."""


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def folder_of(options: list[str]) -> Path:
    """Where the logs of this commit are, with these options."""
    if git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("error: The checkout must be as it was committed: logs are kept by the commit. Commit, or stash.")
    name = git("rev-parse", "--short=12", "HEAD")
    if options:
        name += "-" + hashlib.sha256("\0".join(options).encode()).hexdigest()[:8]
    folder = ROOT / "build" / "nightly" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(file: str, options: list[str], log: Path) -> int:
    """Pytest's exit code. The log has its name once pytest has ended."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *options, file]
    unfinished = log.with_suffix(".running")
    with open(unfinished, "w", encoding="utf-8") as output:
        code = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT).returncode
    unfinished.rename(log.with_suffix(".passed" if code in DONE else ".failed"))
    return code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="the I-th of N parts of the files")
    parser.add_argument("options", nargs="*", help="of pytest, after --")
    given = parser.parse_args()
    part, parts = map(int, given.shard.split("/"))
    folder = folder_of(given.options)
    files = git("ls-files", "tests/**/test_*.py", "tests/test_*.py", "lab/tests/test_*.py").splitlines()[
        part - 1 :: parts
    ]
    failed = []
    for number, file in enumerate(files, 1):
        log = folder / file.replace("/", "-")
        if log.with_suffix(".passed").exists():
            continue
        log.with_suffix(".failed").unlink(missing_ok=True)
        begin = time.monotonic()
        code = run(file, given.options, log)
        print(f"{number}/{len(files)} {file}: exit code {code}, {time.monotonic() - begin:.0f} s", flush=True)
        if code not in DONE:
            lines = log.with_suffix(".failed").read_text(encoding="utf-8").splitlines()
            failed += [line for line in lines if line.startswith(("FAILED", "ERROR"))] or [f"{file}: exit code {code}"]
    print(*failed, f"{len(failed)} failures; logs in {folder.relative_to(ROOT)}", sep="\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
