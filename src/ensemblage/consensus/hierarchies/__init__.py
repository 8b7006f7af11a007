"""Hierarchies of the objects by how often the partitions join them: evidence accumulation and its successors."""
