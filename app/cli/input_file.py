"""The file that a command reads."""

import click

from app.base.errors import UsageError
from app.base.limits import MOST_BYTES


def read_input(file: str) -> bytes:
    """The content of a file, or of stdin for ``-``. Raises UsageError for a large one.

    The limit is there since parsing takes up to ten times as much memory.
    """
    try:
        with click.open_file(file, "rb") as opened_file:
            content: bytes = opened_file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise UsageError(
            f"{file} is larger than {MOST_BYTES // 2**20} MiB, which is too much at once: export fewer series to a file"
        )
    return content
