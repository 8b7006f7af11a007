"""Experiments on the library itself: the papers again, and the leaderboard."""
