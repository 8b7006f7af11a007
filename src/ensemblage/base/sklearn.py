"""scikit-learn's base classes, with types.

scikit-learn has none. To a type checker its classes are `Any`: with such a base every keyword of a constructor is right
and every attribute exists. Here they are declared with what users call.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    class BaseEstimator:
        n_features_in_: int
        feature_names_in_: NDArray[Any]

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int32]: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None) -> Any: ...
        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin

__all__ = ["BaseEstimator", "ClusterMixin", "TransformerMixin", "transform_named"]


def transform_named(transformer: Any, X: Any) -> Any:
    """What `transform` makes of X, whose names are for people: the data that were fitted may have had none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X has feature names, but", category=UserWarning)
        return transformer.transform(X)
