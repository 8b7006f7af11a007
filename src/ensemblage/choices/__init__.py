"""Choices and the records of them: how many clusters, which candidate partitions, method, resolution or point."""
