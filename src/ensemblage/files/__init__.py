"""Ensembles as files: .npz (exact) and .csv (readable), written whole or not at all, read without pickle."""
