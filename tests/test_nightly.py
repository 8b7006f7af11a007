"""The run of all tests file by file: what is done is not done again, and failures have names."""

import shutil
import subprocess
import sys

import pytest
from places import TESTS

FILES = {
    "test_good.py": "def test_it():\n    assert True\n",
    "room/test_bad.py": "def test_it():\n    assert not 1\n",
    "room/test_none.py": "",
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="commits")
def test_a_run_goes_on_and_names_what_failed(tmp_path):
    def call(*command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def nightly(*options):
        return call(sys.executable, "tests/guards/nightly.py", *options)

    for name, text in FILES.items():
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).write_text(text, encoding="utf-8")
    (tmp_path / "tests" / "guards").mkdir()
    shutil.copy(TESTS / "guards" / "nightly.py", tmp_path / "tests" / "guards")
    call("git", "init", "-q")
    call("git", "add", ".")
    call("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all")
    code, said = nightly("--shard", "1/3")
    assert (code, said[0].split(",")[0]) == (1, "1/1 tests/room/test_bad.py: exit code 1")
    assert said[1].startswith("FAILED tests/room/test_bad.py::test_it")
    code, said = nightly()
    assert [line.split(" ")[1] for line in said[:3]] == [f"tests/{name}:" for name in sorted(FILES)]
    assert (code, said[-1].split(";")[0]) == (1, "1 failures")
    code, said = nightly()  # again is run what failed
    assert (code, len(said)) == (1, 3)
    (tmp_path / "tests" / "test_good.py").write_text("# changed\n", encoding="utf-8")
    assert nightly()[0] == 1
