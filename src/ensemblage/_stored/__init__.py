"""Ensembles whose labels lie on disk: read and coded block by block, never held whole."""
