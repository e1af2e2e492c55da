"""Starters for the real servers of the tests: private configuration, free loopback ports, ended by pid."""
