"""Relabelling, voting and averaging: bVote, Ada-cVote, JS-ALink, majority voting, medians of partitions."""
