"""Sets without clusters: single clouds, curves, gradients, and tables of one class."""

from __future__ import annotations

import numpy as np

from ensemblage.datasets._draws import MOST_OBJECTS, Drawn, Random, draw_noise, log_uniform, rotation
from ensemblage.datasets._latent_tables import numbers


def single(random: Random, n_samples: int | None) -> Drawn:
    """One cluster."""
    n, d = n_samples or int(log_uniform(random, 60, MOST_OBJECTS)), round(log_uniform(random, 2, 20))
    how = random.choice(["cloud", "curve", "gradient", "table"], p=[0.4, 0.15, 0.2, 0.25])
    traits = [str(how)]
    if how == "table":
        return numbers(random, n_samples, 1)._replace(traits=traits)
    if how == "curve":
        along = random.uniform(-1, 1, n)
        bent = np.column_stack([along, along**2, np.sin(3 * along)])
        X = bent[:, : min(d, 3)] + random.uniform(0.03, 0.2) * random.standard_normal((n, min(d, 3)))
    elif how == "gradient":
        # Objects move along one direction, more of them at some places: an age, a degree of severity.
        along = random.beta(random.uniform(0.8, 3), random.uniform(0.8, 3), size=n) * random.uniform(3, 10)
        direction = random.standard_normal(d)
        X = np.outer(along, direction / np.linalg.norm(direction)) + draw_noise(random, traits)(random, (n, d))
    else:
        scales = np.exp(random.uniform(-1, 1, d))
        X = draw_noise(random, traits)(random, (n, d)) * scales @ rotation(random, d)
    return Drawn(X, np.zeros(len(X), dtype=np.int64), traits)
