"""Targets as they are copied from an e-mail, a manual, a script or a file manager: what stands around them.

Lines of commands (``net use``, ``mount -t cifs``, ``smbclient``) and of fstab are no targets, and may hold a password:
none of them is repeated in a message.
"""

import re

NOT_SEEN = "\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that nobody sees and that are copied with text: of no width, and for the direction of writing."""

_SINGLE_QUOTES = "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}\N{SINGLE LOW-9 QUOTATION MARK}"
_DOUBLE_QUOTES = "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}„«»"
_IN_QUOTES = re.compile(
    rf"([\"'`]+)(?P<straight>.*)\1[,;]?|[{_SINGLE_QUOTES}{_DOUBLE_QUOTES}](?P<typographic>.*)"
    rf"[{_SINGLE_QUOTES}{_DOUBLE_QUOTES}][,;]?|<(?P<angles>.*)>|\((?P<parentheses>.*)\)",
    re.DOTALL,
)

_LOCAL = re.compile(r"/(?!/)|file:", re.IGNORECASE)
_PASSWORD = re.compile(r"(?:^|[\s,;?&])pass(?:word|wd|wort)?\s*=|\s(?:-U|--user)[\s=]*[\"']?[^\s%]+%", re.IGNORECASE)
"""Options of commands, fstab and URLs that give a password."""

_COMMAND = re.compile(
    r"(?:sudo\s+)?(?:net\s+use|mount(?:[._]\w+)?|smbclient\S*|new-(?:psdrive|smbmapping)|cd|dir|pushd|start|explorer"
    r"|open|xdg-open|gio\s+mount|curl|wget|l?ftp|sharebench\s+\w+|connect\s+to)\s|(?:url|server|unc):",
    re.IGNORECASE,
)
"""How a line begins that has a target inside."""
_OPTIONS_BEHIND = re.compile(
    r"(?:smb://|//|\\\\)[^\s\\/]+[\\/][^\\/]*?\s+(?:-U|-[ANWIpc]\s|--[a-z]|/user:)|.*\s(?:cifs|smb3)\s",
    re.IGNORECASE | re.DOTALL,
)
"""A share with the options of a command behind it, or a line of fstab."""
_FIRST_WORD = re.compile(r"[^\s/\\]+\s")
"""A word before a blank that is no part of a path, in which there may be blanks."""
_OPTION = re.compile(r"\s(?:-{1,2}[a-z][\w-]*|/[a-z]+:)(?=[\s=:,\"']|\S*[:,=%]|$)", re.IGNORECASE)
"""An option of a command, which may be the one before a password."""
_TARGET_INSIDE = re.compile(
    r"[\"'](?P<quoted>(?:(?:smb|cifs|ftps?)://|//|\\\\)[^\"']+)[\"']|(?P<bare>(?:(?:smb|cifs|ftps?)://|//|\\\\)[^\s\"']+)",
    re.IGNORECASE,
)

_EXPLORER_TITLE = re.compile(r"(?P<name>[^\\/]+?) \(\\\\(?P<folder>[^()]+)\)(?: \([A-Z]:\))?")
"""How Explorer names a folder that a drive stands for: ``public (\\\\nas) (Z:)``."""


def unwrapped(text: str) -> str:
    """The text without blanks, quotes and brackets around it."""
    text = text.strip().strip(NOT_SEEN).strip()
    match = _IN_QUOTES.fullmatch(text)
    if match is None:
        return text
    texts_inside = [match[name] for name in ("straight", "typographic", "angles", "parentheses")]
    return next(inside for inside in texts_inside if inside is not None).strip()


def has_password_beside(text: str) -> bool:
    """Whether a line gives a password by the options of a command, of fstab or of a URL."""
    return not _LOCAL.match(text) and _PASSWORD.search(text) is not None


def is_line_around_target(text: str) -> bool:
    """Whether it is no target, but a line of a command, of fstab or of a page that has one inside."""
    if _LOCAL.match(text):
        return False
    inside = _TARGET_INSIDE.search(text)
    if inside is None:
        return False
    is_behind_words = _FIRST_WORD.match(text) is not None and text[inside.start() - 1] in " \t\"'"
    is_command = _COMMAND.match(text) is not None or is_behind_words
    return is_command or _OPTIONS_BEHIND.match(text) is not None


def is_command_line(text: str) -> bool:
    """Whether it is a command with options, any of which may be a password."""
    return _FIRST_WORD.match(text) is not None and _OPTION.search(text) is not None


def target_inside(text: str) -> str:
    """The target in such a line as a URL, without a login; empty for none."""
    match = _TARGET_INSIDE.search(text)
    return _as_url(match["quoted"] or match["bare"]) if match else ""


def target_of_title(text: str) -> str:
    """The target of a title of Explorer; empty for another text."""
    match = _EXPLORER_TITLE.fullmatch(text)
    return _as_url(f"//{match['folder']}/{match['name']}") if match else ""


def _as_url(address: str) -> str:
    scheme, separator, behind = address.partition("://")
    # In fstab a blank is written so.
    path = (behind if separator else address).replace(r"\040", " ").replace("\\", "/").strip("/").rstrip(",;")
    protocol = scheme.lower() if separator and scheme.lower().startswith("ftp") else "smb"
    server, slash, folder = path.partition("/")
    return f"{protocol}://{server.rpartition('@')[2]}{slash}{folder}"
