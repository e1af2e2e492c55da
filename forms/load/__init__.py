"""Loads: many users at once, point by point, capacity, memory of idle users, cards."""
