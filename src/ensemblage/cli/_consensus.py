"""What is asked of the consensus on a command line, and the estimator that does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ensemblage import METHODS, make_consensus
from ensemblage.base.validation import check_parameters, check_weights
from ensemblage.cli._methods import check_names, text_of
from ensemblage.cli._progress import tell
from ensemblage.pipeline._run import Settings


@dataclass(frozen=True)
class Consensus:
    """What is asked of the consensus."""

    k: int | None
    method: str
    seed: int
    n_jobs: int
    memory: str | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the method by name."""
    looks_for_k: bool = False
    """Whether the number of clusters is looked for before."""

    @classmethod
    def of(cls, k: int | None, settings: dict[str, Any]) -> Consensus:
        """Take what concerns the consensus out of the settings of a command; without a method k-means."""
        method = settings.pop("method") or "km"
        if k is not None and method in METHODS and not METHODS[method].capabilities.takes_n_clusters:
            raise ValueError(
                f"-k must be left out for the method {method}: the labels alone decide the number of clusters. Got "
                f"{k}. Leave it out, or choose another --method."
            )
        return cls(k, method, *(settings.pop(name) for name in ("seed", "n_jobs", "memory", "chosen")))

    def check(self, n_partitions: int | None = None) -> None:
        """What can be said before the work begins; ``n_partitions`` if it is known."""
        check_names(self.method, make_consensus(self.method, self.k), self.chosen)
        if self.looks_for_k:
            replace(self, k=2, looks_for_k=False).check(n_partitions)
            return
        if self.k is None and not METHODS[self.method].finds_k:
            able = ", ".join(name for name, method in METHODS.items() if method.finds_k)
            raise ValueError(
                f"-k must be given for the method {self.method}, which cannot estimate the number of clusters. Got "
                f"none. Add -k, or choose a --method that can ({able})."
            )
        estimator = self.estimator()
        check_parameters(estimator)
        if isinstance(weights := self.chosen.get("weights"), list):
            check_weights(weights, n_partitions or len(weights), type(estimator).__name__)

    def identity(self) -> dict[str, Any]:
        """What the consensus depends on beside the ensemble and k."""
        chosen = ", ".join(f"{name}={text_of(self.chosen[name])}" for name in sorted(self.chosen))
        return {"method": self.method, "set": chosen or None}

    def tell_memory(self) -> None:
        """Say it if the limit limits nothing."""
        if self.memory is not None and "max_bytes" not in make_consensus(self.method, self.k).get_params():
            tell(f"--memory: {self.method} makes no matrix of all pairs of objects and needs no limit")

    def settings(self, align: dict[str, Any] | None = None) -> Settings:
        """What concerns this run alone."""
        return Settings(self.seed, self.n_jobs, max_bytes=self.memory, align=align)

    def estimator(self) -> Any:
        """Unfitted, with seed, threads and memory."""
        estimator = make_consensus(self.method, self.k, **self.chosen)
        known = estimator.get_params()
        own: dict[str, Any] = {"random_state": self.seed, "n_jobs": self.n_jobs}
        if self.memory is not None:
            own["max_bytes"] = self.memory
        return estimator.set_params(**{name: value for name, value in own.items() if name in known})
