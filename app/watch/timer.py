"""The timer that runs a watch every night, as text: two systemd units, or an entry of a crontab.

The texts are templates in ``schedule.toml``.
"""

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.base.child_process import own_command, own_environment
from app.base.errors import UsageError
from app.base.user_files import read_toml
from forms import wording
from forms.layout import visible
from storage.records import Target

_CREDENTIALS_FORMAT = "username = NAME, password = PASSWORD; mode 600"
_CREDENTIAL_OF_UNIT = "%d/login"
"""Where systemd puts a credential called login, for the program of the unit alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """What is run every night, and when."""

    target: Target
    baseline: str
    user: str
    hour: int
    minute: int
    delay_minutes: int
    """It starts up to that much later, at random."""
    program: Sequence[str]
    """How this program is called, with its notebook."""
    words: Sequence[str]
    """The options of `watch`."""
    credentials: str | None
    """The file of the password; None where nobody logs in."""

    @property
    def subject(self) -> str:
        return f"{wording.place(self.target)} against {wording.plain(self.baseline)}"

    @property
    def unit_name(self) -> str:
        name = f"sharebench-watch-{self.target.host or ''}-{self.baseline}"
        return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def cron_text(timer: Timer) -> str:
    """An entry of a crontab; in its commands a percent sign would end the line."""
    command = [*timer.program]
    secret = ""
    if timer.credentials is not None:
        command += ["--credentials", timer.credentials]
        secret = f"; {timer.credentials} has {_CREDENTIALS_FORMAT}"
    command += ["watch", *timer.words]

    entry = _templates()["cron"].format(
        user=timer.user,
        secret=secret,
        minute=timer.minute,
        hour=timer.hour,
        seconds=60 * timer.delay_minutes,
        command=shlex.join(command).replace("%", "\\%"),
    )
    return entry.rstrip("\n")


def systemd_text(timer: Timer) -> str:
    """A service and its timer; in units a percent sign begins a specifier, and two are one."""
    command = [_in_unit(word) for word in timer.program]
    credential = ""
    if timer.credentials is not None:
        command += ["--credentials", _CREDENTIAL_OF_UNIT]
        path = timer.credentials.replace("%", "%%")
        credential = f"# {timer.credentials} has {_CREDENTIALS_FORMAT}\nLoadCredential=login:{path}\n"
    command += [_in_unit(word) for word in ("watch", *timer.words)]

    templates = _templates()
    about = timer.subject.replace("%", "%%")
    service = templates["service"].format(
        name=timer.unit_name, about=about, user=timer.user, credential=credential, command=" ".join(command)
    )
    at = f"{timer.hour:02}:{timer.minute:02}"
    unit = templates["timer"].format(name=timer.unit_name, about=about, at=at, delay=timer.delay_minutes)
    return f"{service}\n{unit}".rstrip("\n")


def _templates() -> Mapping[str, str]:
    return read_toml(Path(__file__).with_name("schedule.toml").read_text(encoding="utf-8"))


def own_program() -> list[str]:
    """How a timer, which starts in a folder of its own with few variables, calls this program."""
    installed = shutil.which("sharebench")
    if installed:
        return [str(Path(installed).absolute())]
    checkout = own_environment()["PYTHONPATH"]
    return ["/usr/bin/env", f"PYTHONPATH={checkout}", *own_command("app")]


def refuse_line_ends(words: Sequence[str]) -> None:
    """A line end would begin another entry of a crontab, or another setting of a unit. Raises UsageError."""
    for word in words:
        if word and word.splitlines() != [word]:
            raise UsageError(f"a timer's entry is one line, and {visible(word)[:60]!r} has a line end: leave it out")


def _in_unit(word: str) -> str:
    """A word of ExecStart=, quoted for systemd."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    text = text.replace("\t", "\\t")
    return text if re.fullmatch(r"[\w@%+=:,./~-]+", text, re.ASCII) else f'"{text}"'
