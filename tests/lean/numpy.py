"""In the place of numpy for the processes that tests start: sqlite-utils loads it where it is, and users have none."""

raise ImportError("sharebench does without numpy")
