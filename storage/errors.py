"""What can be wrong with a notebook's file, apart from the libraries that read it."""

from __future__ import annotations


class NotebookFileError(Exception):
    """The file cannot be used as a notebook; ``str()`` of it is one line that says why and what to do."""
