"""The command line as tests call it: what it must do, or refuse, and what it has written."""

import csv
import json

from click.testing import CliRunner
from places import WINE

from ensemblage.cli import main


def call(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)


def succeed(*args):
    result = call(*args)
    assert result.exit_code == 0, result.stderr
    return result


def fail(*args):
    """The one sentence (or two, three) of an error."""
    result = call(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    *said, error = result.stderr.splitlines()
    assert error.startswith("error: ")
    assert not any("error: " in line for line in said)
    return error


def run(output, *args, data=WINE, k=3):
    return ("run", data, "-k", k, "--partitions", 8, "-o", output, *args)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def say_version(folder, version):
    """Let the record of an output folder name the version that made it: a run goes on in no folder of another one."""
    path = folder / "summary.json"
    summary = json.loads(path.read_text(encoding="utf-8"))
    summary["run"]["ensemblage"] = version
    path.write_text(json.dumps(summary), encoding="utf-8")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}
