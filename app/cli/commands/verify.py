"""``sharebench verify``: whether a file is as ``export --sign`` wrote it."""

from pathlib import Path

import click

from app.base.errors import UsageError
from app.base.limits import MOST_MEMORY_BYTES, limit_memory
from app.cli import console, declare
from app.cli.input_file import read_input
from app.evidence import file as evidence


@declare.command("verify")
@click.argument("file", type=click.Path(allow_dash=True))
@declare.option(
    "--key",
    "FILE",
    "Public key of the sender, or an allowed_signers file; may be repeated.",
    click.Path(path_type=Path),
    name="keys",
    multiple=True,
)
@declare.options_of_all
def verify_command(_context: click.Context, /, file: str, keys: tuple[Path, ...]) -> int:
    """Check that FILE is as `export --sign` wrote it (- for stdin), and compute its forms again.

    Numbers that nothing in FILE gives are named: they are the sender's word.
    Exit code 0: unchanged; 1: changed; 2: not signed, or not by one of the given keys. No notebook is needed.
    """
    content = read_input(file)
    try:
        with limit_memory(MOST_MEMORY_BYTES):
            verified = evidence.verify(content, keys)
    except MemoryError as error:
        raise UsageError(
            f"{file} takes more than {MOST_MEMORY_BYTES // 10**6} MB of memory: ask for a file of fewer recordings"
        ) from error
    console.answer(verified.text)
    return verified.exit_code
