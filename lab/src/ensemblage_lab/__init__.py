"""Experiments on ensemblage: the papers again, and the leaderboard."""
