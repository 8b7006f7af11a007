"""Draw README's picture: the wine example, its consensus matrix and how sure each cluster is.

python docs/make_picture.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from ensemblage import ConsensusClustering, plotting
from ensemblage.metrics import coassociation

X = StandardScaler().fit_transform(load_wine().data)
model = ConsensusClustering(n_clusters=3, random_state=0).fit(X)
order = np.lexsort((-model.confidence_, model.labels_))

figure = Figure(figsize=(12, 3.9), layout="constrained")
scatter, matrix, confidence = figure.subplots(1, 3, width_ratios=[1.1, 1, 0.9])
plotting.scatter(PCA(2).fit_transform(X), model.labels_, model.confidence_, ax=scatter)
plotting.consensus_matrix(coassociation(model.ensemble_)[np.ix_(order, order)], model.labels_[order], ax=matrix)
plotting.confidence_by_cluster(model.confidence_, model.labels_, ax=confidence)
figure.savefig(Path(__file__).with_name("overview.png"), dpi=130, metadata={"Software": None})
