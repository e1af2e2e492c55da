"""Recordings signed by an ssh key, and whether such a file is as it was signed and follows from what was measured."""
