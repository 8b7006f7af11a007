"""Consensus of communities on the edges of their graph."""
