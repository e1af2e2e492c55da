"""The columns of the paper form (Using Samba, table B-9)."""

from enum import StrEnum


class PaperColumn(StrEnum):
    """A column, by the unit of its numbers."""

    RUN = "run"
    SIZE = "bytes"
    TIME = "s"
    RATE = "bytes/sec"
    BITS = "bits/sec"
    PERCENT = "% of the link"
