"""Where label rows lie, in memory, on disk or on a cluster, and how work reaches them."""
