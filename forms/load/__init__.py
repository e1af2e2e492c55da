"""Loads: many users at once, capacity, memory of idle users, cards."""
