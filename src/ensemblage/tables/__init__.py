"""What stands in files, before it is known what it is for: bytes, arrays, text and typed cells as columns."""
