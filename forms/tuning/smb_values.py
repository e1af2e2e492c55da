"""Values of smb.conf as smbd reads them: the numbers of C, lists with their separators, log levels by class."""

import re
from collections.abc import Iterator, Sequence

BLANKS = " \t\r\v\f"
"""What C's isspace() takes for a blank within a line; the no-break space of web pages is none."""
NO_BLANKS = dict.fromkeys(map(ord, f"{BLANKS}\n"))
"""For str.translate, to take them out."""
_SEVERAL_BLANKS = re.compile(rf"[{BLANKS}\n]+")
_LIST_BLANKS = " \t,;\n\r"
"""What separates the entries of a list (LIST_SEP in lib/util/util_strlist.c)."""
_SOCKET_BLANKS = " \t,"
"""What separates socket options (lib/util/util_net.c)."""
_LEADING_DECIMAL = re.compile(r"\s*([+-]?\d+)")
_LEADING_NUMBER = re.compile(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)")
_MOST_DIGITS = 40
"""Of a number that is read: C clamps it long before, and Python refuses one of more than 4,300."""


def with_single_blanks(text: str) -> str:
    """The text without blanks around it, and with one in place of several in a row."""
    return _SEVERAL_BLANKS.sub(" ", text).strip(" ")


def read_by_atoi(text: str) -> int:
    """The decimal number that a text begins with, as C's atoi() reads it: 64 of ``64K``, and 0 of ``yes``."""
    match = _LEADING_DECIMAL.match(text)
    return int(match[1][:_MOST_DIGITS]) if match else 0


def read_by_strtol(text: str) -> int:
    """The number that a text begins with, decimal, hexadecimal or octal: 16 of ``0x10``, 10 of ``10M``; 0 for none."""
    match = _LEADING_NUMBER.match(text)
    if match is None:
        return 0
    digits = match[2][:_MOST_DIGITS]
    is_octal = digits.startswith("0") and not digits.lower().startswith("0x")
    number = int(digits, 8 if is_octal else 0) if digits != "0" else 0
    return -number if match[1] == "-" else number


def is_whole_number(text: str) -> bool:
    """Whether nothing stands behind the number, which smbd would leave out."""
    return _LEADING_NUMBER.fullmatch(text.rstrip()) is not None


def entries_of_list(value: str) -> list[str]:
    """The entries of a list; quotes keep what they enclose together."""
    return list(_tokens(value, _LIST_BLANKS))


def words_of_value(name: str, value: str) -> list[str]:
    """The words of a list as they are written, by the separators of that parameter; ``name`` is canonical."""
    return list(_tokens(value, _SOCKET_BLANKS if name == "socket options" else _LIST_BLANKS))


def socket_options(value: str) -> list[tuple[str, str]]:
    """The words of ``socket options``, each with what follows its equals sign, or "1" where it has none."""
    options = []
    for word in _tokens(value, _SOCKET_BLANKS):
        name, equals, number = word.partition("=")
        options.append((name, number if equals else "1"))
    return options


def has_blank_at_equals(value: str) -> bool:
    """Whether a socket option is cut in two by a blank, such as ``SO_RCVBUF = 8192``."""
    return re.search(r"\s=|=(\s|$)", value) is not None


def _tokens(value: str, separators: str) -> Iterator[str]:
    token = ""
    is_quoted = False
    for letter in value:
        if letter == '"':
            is_quoted = not is_quoted
        elif letter in separators and not is_quoted:
            if token:
                yield token
            token = ""
        else:
            token += letter
    if token:
        yield token


def patterns_of(value: str) -> list[str]:
    """The patterns of ``veto files`` and its like, which slashes separate, and nothing else."""
    return [pattern for pattern in value.split("/") if pattern]


def words_without_level(value: str) -> Sequence[str]:
    """Words of a log level that smbd refuses: each but a first number needs a colon and a level."""
    words = entries_of_list(value)
    if words and words[0][:1].isdigit():
        words = words[1:]
    return [word for word in words if not all(word.partition(":")[::2])]
