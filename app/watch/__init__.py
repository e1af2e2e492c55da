"""Watches: a path measured again and again, and its history."""
