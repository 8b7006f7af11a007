"""k-means of label rows, for any utility: Candel's KM and H-KM, KCC, QMI, ECC, SEC, GKCC, k-modes."""
