"""The read-only script that asks a server about itself: run here, or there through the system's ssh in one call."""

import secrets
import shlex
import subprocess
from dataclasses import dataclass, field
from importlib.resources import files

from app.children import run_to_end

LOCAL_TIMEOUT_SECONDS = 20.0
"""A script of half a second here; on a machine that is very busy it was seen to take over ten."""
SSH_TIMEOUT_SECONDS = 20.0
COUNTER_FILES = ("/proc/stat", "/proc/net/dev", "/proc/net/snmp")
_CODE_DIGITS = 10
SSH_OPTIONS = (
    "-T",
    "-x",
    "-a",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=5",
    "-o",
    "ControlMaster=no",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
)
"""No terminal, no question, nothing forwarded, no connection left behind, and none that is dead waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the script printed, by section; with a problem, in words for the admin, where it could not run."""

    sections: dict[str, str] = field(default_factory=dict)
    problem: str | None = None

    def text(self, name: str) -> str | None:
        """One section without the line ends around it; None where it is not there or empty."""
        return self.sections.get(name) or None

    def file(self, path: str, /) -> str | None:
        """The text of a file of the server."""
        return self.text(f"file:{path}")

    def code(self, name: str) -> int | None:
        """The exit code of a recorded command; None where it was not run."""
        text = self.sections.get(f"{name}.rc", "")
        return int(text) if text.isdecimal() and len(text) < _CODE_DIGITS else None


DEFAULTS = {
    "only": "",
    "window": "0",
    "samba": "no",
    "conf": "",
    "share": "",
    "folder": "",
    "client": "",
    "server": "",
    "files": "",
    "counters": "\n".join(COUNTER_FILES),
}
"""The script's variables, as they are where nothing else is said."""
PROBE = files("app.environment").joinpath("probe.sh").read_text(encoding="utf-8")
"""The script that only reads."""


def ask_server(settings: dict[str, str], ssh: str | None) -> Answer:
    """Run the script with its variables set, here, or on ``ssh`` (``[USER@]HOST`` or an ``ssh://`` URL).

    Never raises: a server that cannot be reached or that has no shell is an answer with a problem.
    """
    return run_script(PROBE, {**DEFAULTS, **settings}, ssh)


def run_script(body: str, settings: dict[str, str], ssh: str | None, seconds: float = 0.0) -> Answer:
    """Run a script as the one of :func:`ask_server`: it prints sections, by its variable ``mark``, the last ``end``.

    ``seconds`` is how long it may take, where that is more than usual.
    """
    mark = f"@sharebench-{secrets.token_hex(8)}@"
    script = _with_variables(body, {**settings, "mark": mark})
    if ssh is None:
        return _run(("sh", "-s"), script, mark, max(seconds, LOCAL_TIMEOUT_SECONDS), where="this machine")
    if ssh.startswith("-") or not ssh.strip():
        return Answer(problem=f"no facts of the server: {ssh!r} is no [USER@]HOST for ssh")
    words = ("ssh", *SSH_OPTIONS, "--", ssh, "exec sh -s")
    return _run(words, script, mark, max(seconds, SSH_TIMEOUT_SECONDS), where=ssh, ssh=ssh)


def _with_variables(body: str, variables: dict[str, str]) -> str:
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items()) + body


def _run(
    words: tuple[str, ...], script: str, mark: str, timeout_seconds: float, *, where: str, ssh: str | None = None
) -> Answer:
    try:
        done = run_to_end(words, script, timeout_seconds)
    except subprocess.TimeoutExpired:
        hint = f"check that `ssh {ssh} true` returns at once" if ssh else "try again when it is less busy"
        return Answer(problem=f"no facts of the server: {where} did not answer in {timeout_seconds:.0f} s; {hint}")
    except OSError as error:
        return Answer(problem=f"no facts of the server: `{words[0]}` cannot be run here ({error.strerror}); install it")
    sections = _sections(done.stdout, mark)
    if "end" in sections:
        return Answer(sections=sections)
    said = next((line.strip() for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
    if ssh and done.returncode == 255:
        hint = f"`ssh {ssh} true` must work without a question; log in once by hand, or set up a key"
    else:
        hint = "facts need a POSIX shell there"
    return Answer(sections=sections, problem=f"no facts of the server through {where}: {said}; {hint}")


def _sections(printed: str, mark: str) -> dict[str, str]:
    """The parts of the output between marks; what comes before the first (a login's greeting) is dropped."""
    parts = printed.split(f"\n{mark} ")[1:]
    pairs = (part.partition("\n") for part in parts)
    return {name.strip(): text.strip("\n") for name, _, text in pairs}
