"""Two runs in one folder at the same time: one writes it, the other finds it done or says that it is in use."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from random import Random

from fuzz import Failure
from fuzz_kills import WRITTEN, command, whole


def case(draw: Random, folder: Path) -> str:
    expected, seconds = whole(folder)
    out = folder / f"both-{draw.getrandbits(40)}"
    first = subprocess.Popen(command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(draw.choice([0, draw.uniform(0, seconds)]))
    second = subprocess.Popen(command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    told = [process.communicate()[1] for process in (first, second)]
    codes = [first.returncode, second.returncode]
    if 0 not in codes or not set(codes) <= {0, 2} or "Traceback" in "".join(told):
        raise Failure(f"They ended with {codes}: {told[0][-200:]} | {told[1][-200:]}")
    if 2 in codes and "another" not in told[codes.index(2)] and "in use" not in told[codes.index(2)]:
        raise Failure(f"The one that was refused says: {told[codes.index(2)][-300:]}")
    if sorted(path.name for path in out.iterdir()) != WRITTEN:
        raise Failure(f"The folder holds {sorted(path.name for path in out.iterdir())}")
    for name in WRITTEN[:2]:
        if (out / name).read_bytes() != expected[name]:
            raise Failure(f"{name} differs")
    return "both ended" if codes == [0, 0] else "one was refused"
