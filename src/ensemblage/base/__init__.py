"""Used by every package but the kernels: checks of input, parameters, locks and texts; no data."""
