"""Any label matrix to codes, and back."""
