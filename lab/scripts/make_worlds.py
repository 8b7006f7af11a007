"""A page of pictures of synthetic worlds: eight of each kind, along their first two principal components.

python lab/scripts/make_worlds.py writes docs/worlds.png. Nothing in it depends on a data set.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

from ensemblage.datasets import make_world
from ensemblage.preprocessing import Preprocessor

KINDS = ("clouds", "shapes", "numbers", "categories", "mixed", "wide", "single")
N_EACH = 8


def main() -> None:
    mpl.use("Agg")
    figure, rows = plt.subplots(len(KINDS), N_EACH, figsize=(16, 2.25 * len(KINDS)), constrained_layout=True)
    for kind, axes in zip(KINDS, rows, strict=True):
        for seed, ax in enumerate(axes):
            world = make_world(kind, random_state=seed)
            features = Preprocessor(standardize=True).fit_transform(world.X)
            points = features if features.shape[1] == 2 else PCA(2, random_state=0).fit_transform(features)
            stray = world.labels < 0
            ax.scatter(*points[stray].T, s=3, color=".7")
            ax.scatter(*points[~stray].T, s=3, c=world.labels[~stray], cmap="tab20", linewidths=0)
            ax.set(xticks=[], yticks=[])
            ax.set_title(f"{len(features)} × {features.shape[1]}, {world.labels.max() + 1} clusters", fontsize=8)
        axes[0].set_ylabel(kind, fontsize=12)
    figure.savefig(Path(__file__).parents[2] / "docs" / "worlds.png", dpi=70)


if __name__ == "__main__":
    main()
