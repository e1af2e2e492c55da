"""Facts and counters of one machine."""
