"""Recordings that come from elsewhere: files, notebooks, other machines."""
