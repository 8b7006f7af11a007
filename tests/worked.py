"""An ensemble of ten objects on which the authors' code of several methods was run, and the features of another."""

import numpy as np

PARTITIONS = ("1111222332", "1112222333", "1122233444", "1111122221")
E = np.array([[int(label) for label in labels] for labels in PARTITIONS]).T
"""(10, 4) labels; the objects 1 and 2, 6 and 7, 8 and 9 are equal rows."""
E_MISSING = E.copy()
"""E without a label of object 3 and one of object 10."""
E_MISSING[2, 2] = E_MISSING[9, 0] = -1

ABSCISSAE = (0, 1, 0.3, 1.2, 0.6, 6, 7.1, 6.4, 7.3, 3.2, 4.1, 9.7)
ORDINATES = (0, 0.2, 1.1, 1.3, 0.5, 0.1, 0.4, 1.2, 1.5, 5.1, 5.9, 8.8)
POINTS = np.column_stack([ABSCISSAE, ORDINATES])
"""(12, 2) features."""


def partition(text):
    """Labels of ten objects from their groups, as "1-5 6,7 8-10"."""
    labels = np.full(10, -1)
    for c, group in enumerate(text.split()):
        for part in group.split(","):
            first, _, last = part.partition("-")
            labels[int(first) - 1 : int(last or first)] = c
    return labels
