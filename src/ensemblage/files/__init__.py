"""Files, written whole or not at all, read without pickle: ensembles as .npz (exact) and .csv (readable), tables."""
