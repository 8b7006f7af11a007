"""Draw README's picture: the wine example, its consensus matrix and how sure each cluster is.

python lab/scripts/make_picture.py
"""

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from ensemblage import ConsensusClustering, plotting
from ensemblage.metrics import coassociation

PICTURE = Path(__file__).parents[2] / "docs" / "overview.png"
X = StandardScaler().fit_transform(load_wine().data)


MODEL = ConsensusClustering(n_clusters=3, random_state=0).fit(X)


def drawn() -> dict[str, list[float]]:
    """The numbers behind the picture, which its file holds too: a test compares them with today's."""
    return {"labels": MODEL.labels_.tolist(), "confidence": MODEL.confidence_.round(3).tolist()}


def draw() -> None:
    """Write the picture."""
    order = np.lexsort((-MODEL.confidence_, MODEL.labels_))
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    scatter, matrix, confidence = figure.subplots(1, 3, width_ratios=[1.1, 1, 0.9])
    plotting.scatter(PCA(2).fit_transform(X), MODEL.labels_, MODEL.confidence_, ax=scatter)
    plotting.consensus_matrix(coassociation(MODEL.ensemble_)[np.ix_(order, order)], MODEL.labels_[order], ax=matrix)
    plotting.confidence_by_cluster(MODEL.confidence_, MODEL.labels_, ax=confidence)
    figure.savefig(PICTURE, dpi=130, metadata={"Software": None, "Description": json.dumps(drawn())})


if __name__ == "__main__":
    draw()
