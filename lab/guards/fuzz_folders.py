"""Two runs in one folder at the same time: one writes it, the other finds it done or says that it is in use."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

from fuzz import Failure
from fuzz_kills import WRITTEN, Running, whole


def case(draw: Random, folder: Path) -> str:
    forked = draw.random() < 0.8
    expected, seconds = whole(folder, forked)
    out = folder / f"both-{draw.getrandbits(40)}"
    first = Running(out, forked)
    time.sleep(draw.choice([0, draw.uniform(0, seconds)]))
    second = Running(out, forked)
    codes, told = zip(*(run.wait() for run in (first, second)), strict=True)
    if 0 not in codes or not set(codes) <= {0, 2} or "Traceback" in "".join(told):
        raise Failure(f"They ended with {codes}: {told[0][-200:]} | {told[1][-200:]}")
    if 2 in codes and "another" not in told[codes.index(2)] and "in use" not in told[codes.index(2)]:
        raise Failure(f"The one that was refused says: {told[codes.index(2)][-300:]}")
    if sorted(path.name for path in out.iterdir()) != WRITTEN:
        raise Failure(f"The folder holds {sorted(path.name for path in out.iterdir())}")
    for name in WRITTEN[:2]:
        if (out / name).read_bytes() != expected[name]:
            raise Failure(f"{name} differs")
    return "both ended" if codes == (0, 0) else "one was refused"
