"""The ANSI styles of forms as text."""

BOLD = "\x1b[1m"
STRUCK = "\x1b[9m"
DIM = "\x1b[2m"
_PLAIN = "\x1b[0m"


def styled(line: str, style: str, ansi: bool) -> str:
    """The line in that style; as it is without ANSI, or for an empty style."""
    return f"{style}{line.rstrip()}{_PLAIN}" if ansi and style else line
