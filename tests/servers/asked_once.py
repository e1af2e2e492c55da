"""What a running smbd's machine says of it, asked once for all tests that do not change it.

The script that asks takes half a second of a processor, more than what most tests of a measurement do besides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.server.shell import Answer
from tests.servers.smbd import Smbd

Ask = Callable[[Mapping[str, str], str | None], Answer]

_FILE = "file:"


@dataclass(frozen=True)
class _Known:
    answer: Answer
    is_there: bool
    """Whether the share's folder was."""


class AskedOnce:
    """In the place of ``ask_server``: a server that is as it was gives the answer that it gave.

    Files and the names in the folder are read anew; who has a session is not.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[object, _Known] = {}

    def __call__(self, settings: Mapping[str, str], ssh: str | None) -> Answer:
        server = Smbd.running.get(settings.get("port", ""))
        is_usual = ssh is None and settings.get("samba") == "yes" and not settings.get("conf")
        if server is None or not is_usual:
            return self._ask(settings, ssh)

        key = (frozenset(settings.items()), os.environ["PATH"], server.pid, server.conf.read_bytes())
        known = self._known.get(key)
        if known is None or known.is_there != _folder_of(known.answer).is_dir():
            answer = self._ask(settings, ssh)
            self._known[key] = _Known(answer, _folder_of(answer).is_dir())
            return answer
        return replace(known.answer, sections=known.answer.sections | _read_anew(known.answer))


def _folder_of(answer: Answer) -> Path:
    return Path(answer.stripped("folder") or os.devnull)


def _read_anew(answer: Answer) -> dict[str, str]:
    """The sections of the files, and of what is in the folder."""
    sections: dict[str, str] = {}
    for name in answer.sections:
        if name.startswith(_FILE):
            sections[name] = Path(name.removeprefix(_FILE)).read_text(errors="surrogateescape").strip("\n")
    folder = _folder_of(answer)
    if "names" in answer.sections and folder.is_dir():
        sections["names"] = "\n".join(sorted(path.name for path in folder.iterdir())[:2000])
    return sections
