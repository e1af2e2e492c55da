"""What is said of a part of smb.conf that smbd reads, or may read, and that was not read here."""

from collections.abc import Collection, Mapping, Sequence

from forms.tuning import per_client
from forms.tuning.conf_file import SmbConfFile, UnreadPart, UnreadReason

_ON_SERVER = {
    UnreadReason.INCLUDE_PER_CLIENT: "smbd reads a file more",
    UnreadReason.CONFIG_FILE_PER_CLIENT: "smbd reads another file in place of this one",
    UnreadReason.CONFIG_FILE_LOOP: "this file and others name each other to be read in their place",
    UnreadReason.REGISTRY: "Samba's registry can be read by root alone; log in there by ssh as root",
    UnreadReason.TOO_MANY_INCLUDES: "files include each other too often",
}
"""Where the server's own files were read: one that is not there is not there for smbd either."""
_IN_COPY = {
    **_ON_SERVER,
    UnreadReason.INCLUDE_MISSING: "there is no such file on this machine",
    UnreadReason.CONFIG_FILE_MISSING: (
        "smbd reads that file in place of this one; there is none on this machine, name it with --smb-conf"
    ),
    UnreadReason.REGISTRY: "Samba's registry is no file; audit the server itself, or what `testparm -s` prints there",
}
_PER_CLIENT = frozenset({UnreadReason.INCLUDE_PER_CLIENT, UnreadReason.CONFIG_FILE_PER_CLIENT})
_UNREADABLE = "this account may not read the file; log in there by ssh as root"


LOG_LEVEL_OF_DUMP = "log level: testparm prints the one that it runs with itself; audit smb.conf for the server's"


def texts_on_server(
    conf: SmbConfFile, unreadable: Collection[str] = (), files_by_name: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """One text for each part that was not read of a server's files; ``unreadable`` are those of denied access.

    ``files_by_name``: the files that are there, by the name in smb.conf that differs from client to client.
    """
    texts = []
    for part in conf.unread:
        reason = _UNREADABLE if part.setting.value in unreadable else _ON_SERVER.get(part.reason)
        if reason is not None:
            texts.append(_text_of_part(part, reason, files_by_name or {}))
    return list(dict.fromkeys(texts))


def texts_of_copy(conf: SmbConfFile, files_by_name: Mapping[str, Sequence[str]] | None = None) -> list[str]:
    """One text for each part that was not read of a file that was named here; ``files_by_name`` as above."""
    texts = [_text_of_part(part, _IN_COPY[part.reason], files_by_name or {}) for part in conf.unread]
    return list(dict.fromkeys(texts))


def _text_of_part(part: UnreadPart, reason: str, files_by_name: Mapping[str, Sequence[str]]) -> str:
    name = part.setting.value
    text = f"{part.setting.name} = {name}: {reason}"
    if part.reason not in _PER_CLIENT:
        return text

    text = f"{text}, chosen by {per_client.what_decides(name)}"
    return f"{text}; {per_client.files_in_words(name, files_by_name[name])}" if name in files_by_name else text
