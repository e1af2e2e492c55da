"""Many users at once: the lines before a load, and the load while it runs."""
