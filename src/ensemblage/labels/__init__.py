"""The label matrix as data: codes, distinct rows, where they lie, and pairs of objects that are known."""
