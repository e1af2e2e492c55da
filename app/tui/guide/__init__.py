"""The guide's screens: the steps of the method, each with its own panel."""
