"""Terminal pictures of forms: pure functions that give lines of text, with or without colour."""

import os


def ascii_only() -> bool:
    """Whether the terminal lacks braille and signs: the Linux console, a dumb one, or a locale that is not UTF-8."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    other = bool(locale) and "utf" not in locale.lower() and locale not in {"C", "POSIX"}
    return other or os.environ.get("TERM") in {"linux", "dumb"}
