"""What algorithms ask of label rows: counts, by kernels over blocks of rows."""
