"""Facts and counters of the link that the traffic takes."""
