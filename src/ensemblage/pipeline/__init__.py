"""A table's analysis: plan, candidates, choose, combine, certify, describe, save."""
