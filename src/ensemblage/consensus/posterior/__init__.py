"""Models of how partitions arise: mixtures of latent classes, several modes, posterior draws."""
