"""The two commands of the laboratory: listed, explained, imported late, and refused by one sentence."""

import re
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from test_cli_refused import COUNTS, HUGE, VALUES, here, inputs, refused  # noqa: F401  the fixtures, too

from ensemblage.cli import main
from ensemblage.cli._commands import GROUP, LAB_COMMANDS

LAB = Path(__file__).parents[1]
RUNS = ("0", "-1", "²", "x", HUGE, "1000000000")
GOOD = ["reproduce", "ayad", "-o", "out"]


def test_the_shell_knows_what_the_laboratory_announces():
    project = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"][GROUP].keys() == LAB_COMMANDS.keys()
    listed = CliRunner().invoke(main, ["--help"]).stdout
    for name, what in LAB_COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}$", listed, flags=re.MULTILINE)
        assert main.commands[name].imported().get_short_help_str(limit=100) == what


@pytest.mark.parametrize("name", LAB_COMMANDS)
def test_every_option_has_help_without_types_of_click(name):
    command = main.commands[name].imported()
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    shown = CliRunner().invoke(main, [name, "--help"], catch_exceptions=False).stdout
    assert shown.startswith(f"Usage: ensemblage {name} ")
    assert not any(word in shown for word in ("RANGE", "<=x", "INTEGER", "FLOAT", "TEXT"))


def test_help_imports_nothing_that_takes_time():
    code = (
        "import sys, ensemblage_lab._commands\n"
        "print({'numpy', 'sklearn', 'numba', 'matplotlib'} & set(sys.modules))\n"
        "from ensemblage.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("set()\n")


def test_the_list_of_commands_imports_no_laboratory():
    code = (
        "import sys\n"
        "from ensemblage.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print({'ensemblage_lab', 'importlib.metadata'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\nset()\n")


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(pytest.param("--jobs", value, id=f"jobs {value[:30]}") for value in VALUES["--jobs"]),
        *(pytest.param("--runs", value, id=f"runs {value[:30]}") for value in RUNS),
    ],
)
def test_values_of_options(here, option, value):  # noqa: F811
    refused([*GOOD, f"{option}={value}"])
    assert not list(here.iterdir())


def test_usage(here):  # noqa: F811
    refused([*GOOD, "--nonsense"], "No such option", "See ensemblage reproduce --help")
    refused([*GOOD, "too", "much"], "unexpected extra argument")
    refused(["reproduce"], "must be given. Got none.")
    refused([*GOOD, "--quick=yes"], "does not take a value")
    assert not list(here.iterdir())


ARGUMENTS = [
    ["reproduce", "ayad", "-o", ""],
    ["reproduce", "magic", "-o", "out"],
    ["reproduce", "", "-o", "out"],
    ["reproduce", "all", "--table", "1", "-o", "out"],
    ["reproduce", "ayad", "--table", "99", "-o", "out"],
    ["reproduce", "ayad", "--figure", "x", "-o", "out"],
    ["reproduce", "ayad", "--method", "magic", "-o", "out"],
    ["reproduce", "ayad", "--method", "none:None", "-o", "out"],
    ["reproduce", "ayad", "--method", "os:path", "-o", "out"],
    ["reproduce", "ayad", "--method", ":", "-o", "out"],
    ["reproduce", "ayad", "--status", "-o", "none"],
    ["reproduce", "ayad", "--quick", "-o", "../in/x.csv"],
    ["reproduce", "ayad", "--quick", "-o", "\0"],
]


@pytest.mark.parametrize("args", ARGUMENTS, ids=lambda args: " ".join(args)[:80].replace("\0", "NUL"))
def test_arguments(here, inputs, args):  # noqa: F811
    before = {path: path.stat().st_mtime_ns for path in inputs.iterdir()}
    refused(args)
    assert not list(here.iterdir())
    assert {path: path.stat().st_mtime_ns for path in inputs.iterdir()} == before


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + bytes(99)], ids=["text", "cut"])
def test_results_that_are_none(here, content):  # noqa: F811
    (here / "out").mkdir()
    (here / "out" / "results.sqlite").write_bytes(content)
    for how in ("--quick", "--status"):
        refused(["reproduce", "ayad", how, "-o", "out"], "results.sqlite must be a results file")
    assert (here / "out" / "results.sqlite").read_bytes() == content


def test_results_with_other_tables(here):  # noqa: F811
    (here / "out").mkdir()
    with sqlite3.connect(here / "out" / "results.sqlite") as file:
        file.execute("create table results (a)")
        file.execute("pragma user_version = 1")
    file.close()
    refused(["reproduce", "ayad", "--status", "-o", "out"], "results.sqlite")
    refused(["reproduce", "ayad", "--quick", "-o", "out"], "results.sqlite")


def test_a_folder_where_the_results_belong(here):  # noqa: F811
    (here / "out" / "results.sqlite").mkdir(parents=True)
    refused(["reproduce", "ayad", "--quick", "-o", "out"])
    assert (here / "out" / "results.sqlite").is_dir()
