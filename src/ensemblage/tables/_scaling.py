"""Whether features keep their own scales."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import FunctionTransformer, StandardScaler

AUTO = "auto"
ALIKE = 20.0
"""Deviations are alike if nine tenths of them are at most so many times a tenth of them: see docs/DEFAULT.md."""
STANDARDIZED = "features have mean 0 and standard deviation 1"
KEPT = "features keep their scales, which are alike: centred, and all divided by one number (else: --standardize)"


class AlikeScaler(StandardScaler):  # type: ignore[misc]
    """Mean 0; divided each by its deviation, or, where the deviations are alike, all by their quadratic mean."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        super().fit(X, y, sample_weight)
        all_variances: NDArray[np.float64] = np.asarray(self.var_)
        variances = all_variances[all_variances > 0]
        deviations = np.sort(np.sqrt(variances))
        cut = (len(deviations) - 1) // 10  # of fewer than eleven the least and the largest count
        self.keeps_scales_ = deviations.size > 0 and bool(deviations[-1 - cut] <= ALIKE * deviations[cut])
        if self.keeps_scales_:
            self.scale_ = np.full(len(all_variances), np.sqrt(variances.mean()))
        return self


def scaler_of(standardize: bool | str, only_numbers: bool) -> Any:
    """What scales numbers, not fitted; "auto" keeps scales only where all that is clustered are numbers."""
    if standardize == AUTO and only_numbers:
        return AlikeScaler()
    return StandardScaler() if standardize else FunctionTransformer()


def scaling_note(transformer: Any) -> str:
    """What a fitted ColumnTransformer did to the scales of numbers, "" if nothing."""
    steps = dict(getattr(transformer, "named_transformers_", {}))
    scaler: Any = steps.get("numbers")
    scaler = scaler[-1] if hasattr(scaler, "steps") else scaler
    if isinstance(scaler, FunctionTransformer):
        return ""
    return KEPT if getattr(scaler, "keeps_scales_", False) else STANDARDIZED
