"""The label matrix as data: coding of labels, ensembles of hard and soft partitions, their files, pairs of objects."""
