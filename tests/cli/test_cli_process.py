"""The command line among other processes: folders in use, signals, kills, closed streams; folders of old versions."""

import csv
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import types
from importlib.metadata import entry_points
from pathlib import Path

import numba
import numpy as np
import pytest
from click.testing import CliRunner
from places import FILES, WINE
from shell import call, contents, fail, say_version, succeed

from ensemblage import Ensemble, __version__, report
from ensemblage.base import atomic as _lock
from ensemblage.cli import main
from ensemblage.generation import RandomKPartitions, write_partitions
from ensemblage.labels.disk import MARKER, Scratch

ENSEMBLAGE = [sys.executable, "-m", "ensemblage"]
WRITTEN = ["ensemble.npz", "labels.csv", "model.npz", "report.html", "summary.json"]
posix = pytest.mark.skipif(os.name != "posix", reason="signals and closed streams as POSIX has them")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def ensemble(tmp_path):
    labels = np.column_stack([np.arange(30) // 10, np.arange(30) // 8, np.arange(30) % 4])
    Ensemble(labels).save(tmp_path / "e.npz")
    return tmp_path / "e.npz"


def test_compiling_is_told_once(tmp_path, ensemble, monkeypatch):
    def compiling(*args, build=report.build, **options):
        for number in range(2):
            numba.njit(lambda x, n=number: x + n)(1)
        return build(*args, **options)

    succeed("combine", ensemble, "-k", 3, "-o", tmp_path / "out")
    assert "compiling" not in succeed("combine", ensemble, "-k", 3, "-o", tmp_path / "out2").stderr
    monkeypatch.setattr(report, "build", compiling)
    assert succeed("combine", ensemble, "-k", 3, "-o", tmp_path / "out3").stderr.count("compiling once") == 1


# -- A folder has one user ---------------------------------------------------------------------------------------------


def test_ctrl_c_while_the_command_is_imported(monkeypatch):
    class Interrupted(types.ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    (entry,) = entry_points(group="console_scripts", name="ensemblage")
    main = entry.load()
    monkeypatch.setitem(sys.modules, "ensemblage.cli", Interrupted("ensemblage.cli"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


@posix
def test_an_interrupt_that_a_library_takes_for_an_error():
    code = """
    import os, signal, time
    from ensemblage.cli import main
    @main.command("wait")
    def wait():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except KeyboardInterrupt:
            raise ValueError("X must be what it was before. Got an interrupt. Go on.") from None
    main(["wait"], prog_name="ensemblage")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGTERM
    assert done.stderr == "Interrupted. Nothing was written.\n"


def test_a_folder_in_use(tmp_path, ensemble):
    out = tmp_path / "out"
    combine = ("combine", ensemble, "-k", 2, "-o", out)
    succeed(*combine)
    before = contents(out)
    with _lock.only_user(out):
        for args in ((*combine, "--overwrite"), ("run", WINE, "-k", 2, "-o", out), ("report", out)):
            error = fail(*args)
            assert f"one command at a time. {out} is in use by process {os.getpid()} on " in error
        succeed("report", out, "-o", tmp_path / "page.html")
        assert contents(out).items() >= before.items()
    succeed(*combine)
    assert names(out) == WRITTEN


def test_a_folder_that_another_command_takes_away(tmp_path, ensemble, monkeypatch):
    """One that was made for nothing goes again: whoever was about to use it makes it anew."""
    take, gone = _lock.take, []

    def taken_away(path):
        if not gone:
            gone.append(path.parent.rmdir())
        return take(path)

    monkeypatch.setattr(_lock, "take", taken_away)
    succeed("combine", ensemble, "-k", 2, "-o", tmp_path / "out")
    assert names(tmp_path / "out") == WRITTEN


HOLDS = "import sys, time; from pathlib import Path; from ensemblage.base import atomic as _lock\n"
HOLDS += "with _lock.only_user(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)\n"


def test_the_lock_of_a_dead_process_is_nobodys(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match=f"is in use by process {process.pid} on "), _lock.only_user(tmp_path):
            pass
        process.kill()
    assert names(tmp_path) == [_lock.LOCK]
    with _lock.only_user(tmp_path):
        pass
    assert names(tmp_path) == []


def test_locks_of_windows(tmp_path, monkeypatch):
    """msvcrt.locking fails with EACCES where another handle has locked the byte."""
    locked = set()

    class Msvcrt:
        LK_NBLCK = 2

        @staticmethod
        def locking(handle, mode, n_bytes):
            place = (os.fstat(handle).st_ino, os.lseek(handle, 0, os.SEEK_CUR))
            assert (mode, n_bytes, place[1]) == (2, 1, _lock.FAR)
            if place in locked:
                raise PermissionError(errno.EACCES, "Permission denied")
            locked.add(place)

    monkeypatch.setattr(_lock, "fcntl", None)
    monkeypatch.setattr(_lock, "msvcrt", Msvcrt, raising=False)
    with _lock.only_user(tmp_path):
        with pytest.raises(ValueError, match=f"is in use by process {os.getpid()} on "), _lock.only_user(tmp_path):
            pass
        assert names(tmp_path) == [_lock.LOCK]
    assert names(tmp_path) == []


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(_lock, "_lock", refuse)
    with _lock.only_user(tmp_path), _lock.only_user(tmp_path):
        pass


def test_a_file_of_labels_has_one_writer(tmp_path):
    X, generator = np.random.default_rng(0).normal(size=(40, 2)), RandomKPartitions(3, random_state=0)

    def second(done, total):
        if done == 1:
            with pytest.raises(ValueError, match=r"one command at a time\. .*z\.npy is in use"):
                write_partitions(generator, X, tmp_path / "z.npy", overwrite=True)

    write_partitions(generator, X, tmp_path / "z.npy", progress=second)
    assert names(tmp_path) == ["z.npy", "z.npy.json"]
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), generator.fit_transform(X))


def test_two_processes_at_once(tmp_path):
    command = [*ENSEMBLAGE, "run", str(WINE), "--partitions", "5", "-o", str(tmp_path / "out"), "-k"]
    both = [subprocess.Popen([*command, k], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for k in "34"]
    said = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    winner = [process.returncode for process in both].index(0)
    assert said[1 - winner].startswith("error: ")
    assert "is in use" in said[1 - winner] or "holds one with k" in said[1 - winner]
    assert names(tmp_path / "out") == WRITTEN
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        assert len({row[1] for row in csv.reader(file)}) == 1 + 3 + winner


# -- What was refused or killed is in nobody's way ---------------------------------------------------------------------


def test_a_refused_consensus_leaves_nothing(tmp_path, ensemble):
    assert "must be ≤ the" in fail("combine", ensemble, "-k", 50, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    succeed("combine", ensemble, "-k", 2, "-o", tmp_path / "out")


def test_a_refused_consensus_keeps_the_base_clusterings(tmp_path, monkeypatch):
    run = ("run", WINE, "--partitions", 5, "--method", "acv", "-o", tmp_path / "out")
    result = call(*run, "-k", 50)
    assert result.exit_code == 2
    assert "keeps ensemble.npz" in result.stderr.splitlines()[-2]
    assert "acv" not in fail(*run, "-k", 50, "--seed", 1)
    monkeypatch.setattr(RandomKPartitions, "fit_transform", None)
    succeed(*run, "-k", 2)
    assert "k 2 instead of 3" in fail(*run, "-k", 3)


def test_another_generator_makes_another_ensemble(tmp_path):
    run = ("run", WINE, "--partitions", 5, "-k", 2, "-o", tmp_path / "out")
    succeed(*run, "--generator", "subspace")
    before = (tmp_path / "out" / "ensemble.npz").read_bytes()
    assert "generator subspace instead of none" in fail(*run)
    succeed(*run, "--overwrite")
    assert (tmp_path / "out" / "ensemble.npz").read_bytes() != before


def test_what_killed_commands_were_writing_goes(tmp_path, ensemble):
    out = tmp_path / "out"
    (out / ".new-abc").mkdir(parents=True)
    (out / ".new-abc" / "labels.csv").write_text("half", encoding="utf-8")
    (out / ".new-abc" / ".labels.csv.k3x_1b2q").write_text("half", encoding="utf-8")
    (out / ".new-report.html").write_text("half, by version 0.1", encoding="utf-8")
    succeed("combine", ensemble, "-k", 2, "-o", out)
    assert names(out) == WRITTEN


def test_what_begins_with_the_same_name_stays(tmp_path, ensemble):
    out = tmp_path / "out"
    for name in ("folder/thesis.txt", "folders/labels.csv/thesis.txt", "mixed/labels.csv", "mixed/thesis.txt"):
        path = out / f".new-{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("My thesis", encoding="utf-8")
    (out / ".new-thesis.txt").write_text("My thesis", encoding="utf-8")
    succeed("combine", ensemble, "-k", 2, "-o", out)
    assert names(out) == sorted([".new-folder", ".new-folders", ".new-mixed", ".new-thesis.txt", *WRITTEN])
    assert names(out / ".new-mixed") == ["labels.csv", "thesis.txt"]


def test_a_kill_between_record_and_file(tmp_path, ensemble, monkeypatch):
    """A page that was being replaced is missing then, and made again: what is there is never called foreign."""
    succeed("combine", ensemble, "-k", 2, "-o", tmp_path / "out")
    replace = os.replace

    def killed(source, target):
        if Path(target).name == "report.html":
            raise KeyboardInterrupt
        replace(source, target)

    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    (tmp_path / "out" / "summary.json").write_text(json.dumps({**summary, "title": "Another"}), encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        patch.setattr("signal.signal", lambda number, handler: None)
        patch.setattr("signal.raise_signal", lambda number: None)
        assert call("report", tmp_path / "out").exit_code == 130
    succeed("combine", ensemble, "-k", 2, "-o", tmp_path / "out")
    assert names(tmp_path / "out") == WRITTEN


@posix
def test_kills_at_any_moment(tmp_path):
    """Nothing is lost or half written: the same command ends with the same labels."""
    draw, out = random.Random(0), tmp_path / "out"
    succeed("run", WINE, "-k", 3, "--partitions", 8, "-o", tmp_path / "whole")
    command = [*ENSEMBLAGE, "run", str(WINE), "-k", "3", "--partitions", "8", "-o", str(out)]
    for number in (signal.SIGKILL, signal.SIGTERM):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not out.exists():
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 2))
        process.send_signal(number)
        process.wait()
    subprocess.run(command, check=True, capture_output=True)
    assert names(out) == WRITTEN
    for name in ("labels.csv", "ensemble.npz"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# -- Scratch -----------------------------------------------------------------------------------------------------------


COMMAND = "combine big.npy -k 5 --scratch scratch -o out.npy --overwrite"


@pytest.fixture
def stored(tmp_path):
    """A command on labels on disk that lasts some seconds, and its scratch folder."""
    np.save(tmp_path / "big.npy", np.random.default_rng(0).integers(0, 20, size=(300_000, 16)).astype(np.int32))
    (tmp_path / "scratch").mkdir()
    return [*ENSEMBLAGE, *COMMAND.split(" ")], tmp_path / "scratch"


def started(command, scratch):
    process = subprocess.Popen(command, cwd=scratch.parent, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while process.poll() is None and not list(scratch.glob("*/codes.scratch")):
        time.sleep(0.01)
    assert process.poll() is None
    return process


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -2), (signal.SIGTERM, -15)])
def test_a_signal_leaves_no_scratch(stored, number, code):
    command, scratch = stored
    process = started(command, scratch)
    process.send_signal(number)
    assert process.communicate()[1].splitlines()[-1] == "Interrupted. Nothing was written."
    assert process.returncode == code
    assert names(scratch.parent) == ["big.npy", "scratch"]
    assert names(scratch) == []


SIGNAL_IN_A_CLASS = """
import os, signal, sys
from ensemblage.cli import main

class Part:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), int(sys.argv[1]))

@main.command()
def imports():
    class Whole:
        part = Part()

main(["imports"])
"""


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -2), (signal.SIGTERM, -15)])
def test_a_signal_while_a_class_is_made_is_no_defect(number, code):
    """Python 3.11 makes a RuntimeError of what is raised there, as when a module is imported."""
    command = [sys.executable, "-c", SIGNAL_IN_A_CLASS, str(int(number))]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.stderr.splitlines(), process.returncode) == (["Interrupted. Nothing was written."], code)


@posix
def test_scratch_of_a_killed_process_goes_with_the_next(stored, tmp_path):
    command, scratch = stored
    process = started(command, scratch)
    process.kill()
    process.communicate()
    (left,) = names(scratch)
    (scratch / "ensemblage-mine").mkdir()
    np.save(tmp_path / "small.npy", np.arange(40).reshape(20, 2) // 10)
    with started(command, scratch) as live:
        in_use = set(names(scratch)) - {left, "ensemblage-mine"}
        E = Ensemble.open(tmp_path / "small.npy", scratch=scratch)
        now = set(names(scratch))
        assert left not in now
        assert now >= {*in_use, "ensemblage-mine"}
        assert len(now) == len(in_use) + 2  # and the folder of E
        live.terminate()
        live.communicate()
    del E


LEFT = """
import os, pathlib, signal, sys
from ensemblage.labels.disk import Scratch, remove_all_scratch

outer = Scratch(sys.argv[1])
with outer.writing("codes") as file:
    file.write(b"codes")
inner = Scratch(outer.path, outer=outer)
with inner.writing("run-0") as file:
    file.write(b"run")
steps, unlink, rmdir = iter(range(int(sys.argv[2]))), os.unlink, os.rmdir

def killed(step):
    def do(*given, **more):
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*given, **more)
    return do

os.unlink, os.rmdir = killed(unlink), killed(rmdir)
remove_all_scratch()
"""


def left_scratch(parent, steps=0):
    """Where a process had labels on disk until it was killed, after so many removals of a file or a folder."""
    done = subprocess.run([sys.executable, "-c", LEFT, parent, str(steps)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


@posix
def test_output_folders_are_no_scratch(tmp_path, ensemble):
    """A killed command leaves its lock in its output folder, whatever that is called."""
    outputs = [tmp_path / name for name in ("ensemblage-out", "ensemblage-scratch-out")]
    for out in outputs:
        succeed("combine", ensemble, "-k", 2, "-o", out)
        with subprocess.Popen([sys.executable, "-c", HOLDS, out], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "held\n"
            process.kill()
        assert names(out) == sorted([_lock.LOCK, *WRITTEN])
    before = [contents(out) for out in outputs]
    np.save(tmp_path / "small.npy", np.arange(40).reshape(20, 2) // 10)
    succeed("combine", tmp_path / "small.npy", "-k", 2, "--scratch", tmp_path, "-o", tmp_path / "other.npy")
    assert [contents(out) for out in outputs] == before


def emptied(left):
    (left / MARKER).write_bytes(b"")


def without_marker(left):
    (left / MARKER).unlink()


def another_name(left):
    left.rename(left.with_name("ensemblage-scratch-mine"))


def another_prefix(left):
    left.rename(left.with_name("mine"))


def a_file_of_the_user(left):
    (left / "thesis.txt").write_text("My thesis", encoding="utf-8")


def a_folder_of_the_user(left):
    (left / "results").mkdir()


def a_file_in_an_inner_folder(left):
    (next(left.glob("*/")) / "labels.csv").write_text("id,label", encoding="utf-8")


def a_link(left):
    target = left.parent.with_name("elsewhere")
    left.rename(target)
    left.symlink_to(target, target_is_directory=True)


def a_linked_file(left):
    (left / "labels.scratch").symlink_to(left.parent / "labels.csv")


def of_an_earlier_version(left):
    for path in (left / MARKER, *left.glob("*/*"), *left.glob("*/")):
        path.rmdir() if path.is_dir() else path.unlink()
    (left / "codes.scratch").rename(left / "codes")
    left.rename(left.with_name("ensemblage-x7tq02ab"))


@posix
@pytest.mark.parametrize(
    "change",
    [
        *(emptied, without_marker, another_name, another_prefix, a_file_of_the_user, a_folder_of_the_user),
        *(a_file_in_an_inner_folder, a_link, a_linked_file, of_an_earlier_version),
    ],
)
def test_what_is_not_wholly_ours_is_no_scratch(tmp_path, change):
    parent = tmp_path / "scratch"
    parent.mkdir()
    left_scratch(parent)
    (left,) = parent.iterdir()
    change(left)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    scratch = Scratch(parent)
    now = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert now.items() >= before.items()
    assert set(now) - set(before) == {scratch.path, scratch.path / _lock.LOCK, scratch.path / MARKER}


@posix
def test_scratch_of_another_user_stays(tmp_path, monkeypatch):
    left_scratch(tmp_path)
    (left,) = tmp_path.iterdir()
    lstat = Path.lstat
    others = {left: types.SimpleNamespace(st_uid=os.getuid() + 1)}
    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", lambda path: others.get(path) or lstat(path))
        Scratch(tmp_path)
    assert left.exists()
    Scratch(tmp_path)
    assert not left.exists()


@posix
def test_kills_while_scratch_is_removed(tmp_path):
    """At whatever step: the next process removes the rest, but for a folder that has nothing in it any more."""
    finished, empty = False, 0
    for step in range(100):
        if finished:
            break
        finished = left_scratch(tmp_path, step)
        scratch = Scratch(tmp_path)
        rest = set(tmp_path.iterdir()) - {scratch.path}
        assert all(set(names(path)) <= {_lock.LOCK} for path in rest)
        empty += len(rest)
        for path in rest:
            shutil.rmtree(path)
    assert finished
    assert empty == 2  # between the marker and the folder


@posix
def test_kills_of_processes_with_labels_on_disk(stored):
    """At random moments, while runs are written and merged too."""
    draw, (command, scratch) = random.Random(0), stored
    for _ in range(4):
        process = started(command, scratch)
        time.sleep(draw.uniform(0, 1))
        process.kill()
        process.communicate()
    now = Scratch(scratch)
    assert list(scratch.iterdir()) == [now.path]


STREAMS = [">&-", "2>&-", "<&- >&- 2>&-", "| true", "2>&1 | true", "2>/dev/full"]


# -- Streams -----------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    ("command", "code", "streams"),
    [
        *(("--help", 0, streams) for streams in STREAMS),
        *(("magic", 2, streams) for streams in STREAMS),
        *(("rank e.npz", 0, streams) for streams in (">&-", "| true", "2>&1 | true")),
        *(("combine e.npz -k 2 -o out", 0, streams) for streams in ("2>&-", "<&- >&- 2>&-", "2>&1 | true")),
        ("combine e.npz -k 50 -o out", 2, "2>&-"),
    ],
)
def test_closed_streams(tmp_path, ensemble, command, code, streams):
    if "/dev/full" in streams and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    line = f'"{sys.executable}" -m ensemblage {command} {streams}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    if command.startswith("combine"):
        assert (names(tmp_path / "out") if code == 0 else names(tmp_path)) == (WRITTEN if code == 0 else ["e.npz"])


def test_a_defect_is_called_one(ensemble, monkeypatch):
    def fall(self, X, y=None, **given):
        raise AttributeError("no such thing")

    monkeypatch.setattr("ensemblage.ranking.DISCOTEC.fit", fall)
    result = CliRunner().invoke(main, ["rank", str(ensemble)])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "a defect of ensemblage" in result.stderr
    assert "AttributeError: no such thing" in result.stderr
    monkeypatch.setenv("ENSEMBLAGE_TRACEBACK", "1")
    with pytest.raises(AttributeError):
        call("rank", ensemble)


# -- Folders of earlier versions ---------------------------------------------------------------------------------------

RUN_V1 = ["run", "wine_45.csv", "--partitions", 6, "--method", "acv", "--truth-column", "cultivar", "-o", "folder_v1"]
RUN_V1.insert(2, "--standardize")


@pytest.fixture
def folder_v1(tmp_path, monkeypatch):
    """What version 0.1.0 wrote, without its page."""
    shutil.copytree(FILES, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    return Path("folder_v1")


def test_a_page_of_a_folder_of_version_1(folder_v1):
    before = contents(folder_v1)
    succeed("report", folder_v1, "-o", "page.html")
    assert contents(folder_v1) == before
    assert "3 clusters in 45 objects" in Path("page.html").read_text(encoding="utf-8")
    succeed("report", folder_v1)
    assert (folder_v1 / "report.html").read_bytes() == Path("page.html").read_bytes()
    assert contents(folder_v1)["labels.csv"] == before["labels.csv"]
    summary = json.loads((folder_v1 / "summary.json").read_text(encoding="utf-8"))
    assert summary["schema"] == 1
    assert summary.items() >= {k: v for k, v in json.loads(before["summary.json"]).items() if k != "run"}.items()


def test_a_run_goes_on_in_a_folder_of_version_1(folder_v1, monkeypatch):
    before = contents(folder_v1)
    say_version(folder_v1, __version__)
    with monkeypatch.context() as patch:
        patch.setattr(RandomKPartitions, "fit_transform", None)
        result = succeed(*RUN_V1)
    assert "made by an earlier run" in result.stderr
    assert names(folder_v1) == WRITTEN
    assert (folder_v1 / "ensemble.npz").read_bytes() == before["ensemble.npz"]
    found, expected = (
        text.decode().splitlines() for text in ((folder_v1 / "labels.csv").read_bytes(), before["labels.csv"])
    )
    assert [line.split(",")[:2] for line in found] == [line.split(",")[:2] for line in expected]
    assert json.loads((folder_v1 / "summary.json").read_text(encoding="utf-8"))["schema"] == 10
    assert "finished by an earlier run" in succeed(*RUN_V1).stderr


def test_another_version_harms_nothing(folder_v1):
    say_version(folder_v1, "99")
    before = contents(folder_v1)
    assert f"ensemblage 99 instead of {__version__}. Choose another folder, or add --overwrite." in fail(*RUN_V1)
    assert contents(folder_v1) == before


# -- One answer --------------------------------------------------------------------------------------------------------


def test_a_cluster_without_objects(tmp_path):
    """The number told, the sizes, the labels, the choice and the page are one answer."""
    shutil.copy(FILES / "one_of_two.csv", tmp_path / "e.csv")
    result = succeed("combine", tmp_path / "e.csv", "--method", "acv", "-o", tmp_path / "out")
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["consensus"] == "1 cluster of 20 objects"
    assert lines["choice"].startswith("2 clusters live longest (")
    assert lines["choice"].endswith(
        "only 1 of them is the most likely one of any object: 1 cluster, and no clear choice."
    )
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        assert {row["cluster"] for row in csv.DictReader(file)} == {"0"}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert lines["choice"] in page
    assert "1 cluster in 20 objects" in page
    assert "times as long as the next best" not in page
    assert "1 clusters" not in page + result.stdout


def test_fewer_clusters_than_asked_for(tmp_path):
    result = succeed("combine", FILES / "one_of_two.csv", "-k", 2, "--method", "acv", "-o", tmp_path / "out")
    assert "consensus   1 cluster of 20 objects: the others of the 2 asked for hold none" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "2 clusters were asked for" in page
    assert "1 clusters" not in page


def test_singulars(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n2\n11\n12\n", encoding="utf-8")
    result = succeed("run", tmp_path / "x.csv", "-k", 2, "--partitions", 2, "-o", tmp_path / "out")
    assert "objects     4, 1 feature\n" in result.stdout
    for rows, said in ((["0,0"], "1 cluster of 1 object\n"), (["0,0"] * 3 + ["1,1"], "2 clusters of 3, 1 objects\n")):
        (tmp_path / "e.csv").write_text("\n".join(["p,q", *rows]), encoding="utf-8")
        found = succeed("combine", tmp_path / "e.csv", "--method", "majority", "-o", tmp_path / f"{len(rows)} rows")
        assert f"consensus   {said}" in found.stdout


# -- Memory and ids ----------------------------------------------------------------------------------------------------


def test_memory_limits_what_grows_with_the_square(tmp_path, ensemble):
    combine = ("combine", ensemble, "-k", 2, "-o", tmp_path / "out", "--method", "eac-complete", "--memory")
    assert "max_bytes" in fail(*combine, 10)
    assert not (tmp_path / "out").exists()
    succeed(*combine, "4GB")
    assert (
        json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["consensus"]["parameters"][
            "max_bytes"
        ]
        == "'4GB'"
    )
    run = ("run", WINE, "-k", 2, "--partitions", 5, "-o", tmp_path / "run", "--memory")
    assert "max_bytes" in fail(*run, 10, "--method", "negmm")
    succeed(*run, "4GB", "--method", "negmm")


def test_memory_that_nothing_needs_is_told_of(tmp_path, ensemble):
    result = succeed("combine", ensemble, "-k", 2, "-o", tmp_path / "out", "--memory", "1GB", "--scratch", tmp_path)
    assert "--memory: km makes no matrix of all pairs of objects and needs no limit" in result.stderr
    assert "--scratch: e.npz is read into memory and takes no room there" in result.stderr
    assert "--memory: e.npz is read into memory" in succeed("rank", ensemble, "--memory", "1GB").stderr


def test_ids_that_are_formulas(tmp_path):
    ids = ["=cmd|' /C calc'!A0", "+1+1", "-2", "@x", "plain", "+49"]
    with open(tmp_path / "e.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "p", "q"], *([name, i // 3, i // 2] for i, name in enumerate(ids))])
    result = succeed("combine", tmp_path / "e.csv", "-k", 2, "--id-column", "id", "-o", tmp_path / "out")
    assert "ids such as \"=cmd|' /C calc'!A0\" are formulas to a spreadsheet" in result.stderr
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ids
    assert "are formulas to a spreadsheet" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "n.csv").write_text("id,p,q\n-1.5,1,1\n+2e3,1,1\n-3,2,2\n", encoding="utf-8")
    assert (
        "formulas"
        not in succeed("combine", tmp_path / "n.csv", "-k", 2, "--id-column", "id", "-o", tmp_path / "n").stderr
    )


@posix
def test_a_minus_is_the_text_of_standard_input(tmp_path):
    table = "a,b,c\n0,0,1\n0,0,1\n1,1,0\n1,0,0\n"
    (tmp_path / "labels.csv").write_text(table, encoding="utf-8")
    ranked = [
        subprocess.run(
            [*ENSEMBLAGE, "rank", name], cwd=tmp_path, input=text, capture_output=True, text=True, check=True
        )
        for name, text in (("labels.csv", ""), ("-", table))
    ]
    assert ranked[0].stdout == ranked[1].stdout
    empty = subprocess.run([*ENSEMBLAGE, "rank", "-"], cwd=tmp_path, input="", capture_output=True, text=True)
    assert empty.returncode == 2
    assert "stdin is empty" in empty.stderr


def test_a_minus_is_refused_where_standard_input_is_no_file(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda path, exists=Path.exists: path != Path("/dev/stdin") and exists(path))
    assert "must be the name of a file on this system, which has no /dev/stdin." in fail("rank", "-")
