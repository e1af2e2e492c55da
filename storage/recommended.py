"""How many runs a series is recommended to have. Loads no other module: the TUI's first screen names the number.

Every text that names these numbers takes them from here, through ``forms/recommended.py``.
"""

DEFAULT_RUNS = 5
"""Measured runs: the rows of the paper form (Using Samba, table B-6).

It is the default of ``--runs``, what the guide and the warnings recommend, and the rows of the blank form.
"""
DEFAULT_WARMUPS = 2
"""Warm-up runs before them."""
DEFAULT_MAX_RUNS = 30
"""The most runs where they are repeated until the average is known (``--until``)."""
