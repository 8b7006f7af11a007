"""What each second of a command was spent on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

START, WRITE, OTHER = "start", "write", "other"
"""Stages of every command: imports and opening files; writing files; what no stage is named for."""


class _Beginning:
    """When the command began: the first one of a process when this module was imported, before all that is slow."""

    def __init__(self) -> None:
        self.at, self._is_first = time.perf_counter(), True

    def now(self) -> None:
        if not self._is_first:
            self.at = time.perf_counter()
        self._is_first = False


beginning = _Beginning()


class Seconds(dict[str, float]):
    """Seconds by stage, which sum to the wall time: what passes within no stage is `START`, then `OTHER`.

    A stage within another one interrupts it. What passes after the last stage is not counted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._since, self._within = beginning.at, [START]
        self._spent: dict[str, float] = {}

    def started(self, earlier: Mapping[str, float]) -> None:
        """From now on what is in no stage is `OTHER`; stages that are not done again keep what they took earlier."""
        self._count()
        self._within[0] = OTHER
        self.update({stage: duration for stage, duration in earlier.items() if stage not in self})

    @contextmanager
    def spent_on(self, stage: str) -> Iterator[None]:
        """Count what passes within the block for a stage."""
        self._count()
        self._within.append(stage)
        try:
            yield
        finally:
            self._count()
            self._within.pop()

    def _count(self) -> None:
        stage, now = self._within[-1], time.perf_counter()
        self._spent[stage] = self._spent.get(stage, 0.0) + now - self._since
        self._since, self[stage] = now, round(self._spent[stage], 3)
        if OTHER in self:  # stands last
            self[OTHER] = self.pop(OTHER)
