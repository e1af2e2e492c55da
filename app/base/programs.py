"""The programs of others that are installed here."""

import shutil

from app.base import errors


def find_program(name: str, package: str) -> str:
    """The program's path. Raises MissingProgramError, which names the package to install."""
    path = shutil.which(name)
    if path is None:
        raise errors.MissingProgramError(f"{name} is not installed; install it (Debian: apt install {package})")
    return path
