"""Weak associations taken away: a parameter of the methods that compare pairs of objects."""

from __future__ import annotations

from typing import Any, ClassVar

from ensemblage.base.parameters import Constraints
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus._precomputed import SimilarityConsensus, number_given
from ensemblage.ensemble._rows import Rows
from ensemblage.metrics._wat import association_threshold, threshold_constraints


class ThresholdedConsensus(SimilarityConsensus):
    """A method with ``association_threshold``; a fitted one has ``association_threshold_`` if that was given."""

    _parameter_constraints: ClassVar[Constraints] = {"association_threshold": [*threshold_constraints(), None]}

    association_threshold: str | float | None
    random_state: Any
    association_threshold_: float

    def _limited(self, able: Capabilities) -> Capabilities:
        able = super()._limited(able)
        return able.without_similarities if isinstance(self.association_threshold, str) else able

    def _threshold(self, rows: Rows) -> float | None:
        """Associations up to it count as 0; None: none does."""
        self.__dict__.pop("association_threshold_", None)  # of an earlier fit
        if self.association_threshold is None:
            return None
        given = self.association_threshold
        self.association_threshold_ = association_threshold(given, rows, self.random_state, self.n_jobs)
        return self.association_threshold_

    def _given_threshold(self) -> float | None:
        """The same where there are no labels to find it by."""
        self.__dict__.pop("association_threshold_", None)
        if self.association_threshold is not None:
            self.association_threshold_ = number_given(
                self.association_threshold, f"association_threshold of {type(self).__name__}"
            )
            return self.association_threshold_
        return None
