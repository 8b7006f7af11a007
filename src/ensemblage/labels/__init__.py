"""The label matrix as data: codes, distinct rows, files of labels, where they lie, and known pairs of objects."""
