"""Used by every package: checks of input, parameters, locks and texts; no data."""
