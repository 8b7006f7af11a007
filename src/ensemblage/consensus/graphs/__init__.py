"""Graphs of objects, clusters or both, cut into parts: CSPA, HGPA, MCLA, HBGF, LCE, NegMM, the transfer cut."""
