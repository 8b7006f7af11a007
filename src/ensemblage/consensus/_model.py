"""What can be done with every fitted consensus."""

from __future__ import annotations

from os import PathLike

from sklearn.utils.validation import check_is_fitted

from ensemblage.consensus._saved import save_model


class Model:
    """A clusterer whose result can be kept."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a .npz file, for `ensemblage.load`.

        Its parameters and all that ``fit`` found, as arrays and JSON, without pickle; of ``progress`` nothing. What
        ``predict`` needs of a generator is in there too: the training features, where new objects get the label of the
        nearest one. The file is written under another name first and then renamed: it is never half written. One of
        that name is replaced.

        Parameters
        ----------
        path : path
            Of the file, whose name ends in .npz.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        ValueError
            If the name does not end so, or a part of it is of neither ensemblage nor scikit-learn.
        """
        check_is_fitted(self)
        save_model(self, path)
