"""Objects that most partitions call noise are in no cluster: they lose the labels of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import check_choice
from ensemblage.ensemble._coding import CodedColumns
from ensemblage.ensemble._columns import drop_unused_labels
from ensemblage.rows.memory import MemoryRows

MISSING: Final = "missing"
VOTE: Final = "vote"
NOISE_RULES = (MISSING, VOTE)


def check_noise(noise: str, missing: int | None) -> int | None:
    """The label on which partitions vote; None where they do not."""
    if check_choice(noise, "noise", NOISE_RULES) == MISSING:
        return None
    if missing is None:
        raise ValueError(
            "missing must be a whole number, the label of noise, if noise='vote'. Got None. Give -1, or "
            "noise='missing'."
        )
    return missing


def noise_voted(code: Callable[[int | None], CodedColumns], missing: int | None, noise: str) -> CodedColumns:
    """The partitions that ``code`` makes where a label means missing, with the votes on it if ``noise`` asks for them.

    code : to codes, from the label that means missing; None: every label is one
    """
    voted = check_noise(noise, missing)
    return code(missing) if voted is None else vote_noise(code(None), voted)


def vote_noise(coded: CodedColumns, noise: int) -> CodedColumns:
    """The partitions without the label ``noise``, which is one of theirs in ``coded``.

    What has it is missing. An object that more than half of the partitions that say anything of it call noise is
    missing in all. O(n p) time and memory.
    """
    codes = np.array(coded.codes[:])
    absent = np.array([len(c) for c in coded.categories])
    is_noise = codes == [_code_of(noise, categories) for categories in coded.categories]
    lost = is_noise | most_call_noise(is_noise, (codes != absent).sum(axis=1))[:, None]
    codes = np.where(lost, absent.astype(codes.dtype), codes)
    return drop_unused_labels(coded._replace(codes=MemoryRows(codes)))


def most_call_noise(is_noise: NDArray[np.bool_], n_said: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """(n,) objects that more than half of the partitions that label them or call them noise, ``n_said``, call noise.

    is_noise : (n, p)
    """
    return np.asarray(2 * is_noise.sum(axis=1) > n_said)


def _code_of(noise: int, categories: NDArray[np.generic]) -> int:
    """The code of a number among sorted categories; -1, which is no code, if it is none of them."""
    if categories.dtype.kind not in "iuf":
        return -1
    found = np.flatnonzero(categories == noise)
    return int(found[0]) if len(found) else -1
