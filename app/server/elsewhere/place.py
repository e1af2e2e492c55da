"""Another machine that measures for us, reached by ssh: where this program is found or carried, and how it is started.

The program there has to be the same. It is the ``sharebench`` of the same version that is installed there, else a copy
of this one, which is carried there once (`program_files`) and checked before each start (`start_there`).
"""

import json
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass

from app import __version__
from app.base import errors
from app.base.ssh_address import FROM_OPTION, check_ssh_host
from app.server.elsewhere import start_there
from app.server.elsewhere.program_files import packed_program, packed_start_text, program_digest
from app.server.running_program import RunningProgram
from app.server.shell import Answer, ServerShell, run_script
from forms import wording
from storage.json_reader import DocumentError, JSONNode

SILENT_SECONDS = 20.0
"""Longest time in which the carrying does not move: a machine that died meanwhile delays the others no longer."""
_FIND_PROGRAM = """
PATH="$PATH:$HOME/.local/bin"; export PATH
printf '\\n%s version\\n' "$mark"
sharebench --version 2>/dev/null </dev/null
for python in $pythons; do
  if command -v "$python" >/dev/null 2>&1; then
    printf '\\n%s python:%s\\n' "$mark" "$python"
    "$python" -B -c "$text" look "$version" 2>/dev/null </dev/null
  fi
done
printf '\\n%s end\\n' "$mark"
"""
_INSTALLED = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec sharebench measuring-process "$@"'

OnProgram = Callable[[Callable[[], object]], object]
"""Is given what ends a program that runs now, to be called from another thread to cancel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringPlace:
    """A machine with our program; starts our modules there."""

    ssh: str
    python: str = ""
    """The Python there that runs what was carried; empty where sharebench is installed."""
    carried_bytes: int = 0
    """What was carried there just now; 0 where the program was there."""
    carried_seconds: float = 0.0

    @property
    def carried_text(self) -> str:
        """What was carried where, and how long it took."""
        size = wording.binary_size(self.carried_bytes)
        return f"sharebench was carried to {self.ssh} ({size} in {self.carried_seconds:.1f} s)"

    def words(self, module: str, *arguments: str) -> list[str]:
        """The words that run our module there until its stdin ends."""
        if not self.python:
            command = f"exec {shlex.join(['sh', '-c', _INSTALLED, 'sh', module, *arguments])}"
        else:
            command = f"exec {_words_there(self.python, 'start', __version__, program_digest(), module, *arguments)}"
        return ServerShell(self.ssh).words(command)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a Python of another machine said of itself and of the program that was carried there."""

    python: str
    platform: str
    library: str
    digest: str

    @property
    def machine(self) -> dict[str, str]:
        return {"python": self.python, "platform": self.platform, "library": self.library}


def reach_place(ssh: str, on_program: OnProgram | None = None) -> MeasuringPlace:
    """Find this program on ``[USER@]HOST``, or carry it there.

    Raises UsageError, UnreachableError, MissingProgramError where it cannot run there, MeasurementError.
    """
    check_ssh_host(ssh, FROM_OPTION)
    answer = _ask(ssh)
    if answer.problem:
        problem = answer.problem.removeprefix(f"{ssh}: ")
        raise errors.UnreachableError(f"cannot measure from {ssh}: {problem}")
    if _version_of(answer.stripped("version")) == __version__:
        return MeasuringPlace(ssh=ssh)

    here = start_there.machine()
    for python in _pythons():
        found_program = _found(answer, python)
        if found_program is None or found_program.machine != here:
            continue
        place = MeasuringPlace(ssh=ssh, python=python)
        return place if found_program.digest == program_digest() else _carry(place, on_program)

    raise errors.MissingProgramError(
        f"cannot measure from {ssh}: it has {_what_it_has(answer)}; install there sharebench {__version__}, or"
        f" {_name_of_python(here['python'])} for {here['platform']} ({here['library']})"
    )


def problem_beside_host(ssh: str, text: str) -> str:
    """Why a machine did not measure, or not to its end, where its name stands beside it."""
    return text.removeprefix(f"cannot measure from {ssh}: ")


def remove_programs(ssh: str) -> list[str]:
    """Remove what was carried to a machine, of all versions; their folders. Raises MeasurementError, UsageError."""
    check_ssh_host(ssh, FROM_OPTION)
    shell = ServerShell(ssh)
    outcome = shell.run("true")
    if outcome.problem or outcome.code:
        reason = shell.why_refused(outcome) or outcome.last_words
        raise errors.UnreachableError(f"cannot look for the program on {ssh}: {reason}")

    for python in _pythons():
        if shell.has(python):
            outcome = shell.run(python, "-B", "-c", packed_start_text(), "remove")
            if outcome.problem or outcome.code:
                raise errors.MeasurementError(f"the program may still be on {ssh}: {outcome.last_words}")
            return outcome.out.splitlines()
    return []


def _ask(ssh: str) -> Answer:
    variables = {"pythons": " ".join(_pythons()), "text": packed_start_text(), "version": __version__}
    return run_script(_FIND_PROGRAM, variables, ssh)


def _pythons() -> tuple[str, ...]:
    """The names of a Python that may be the same as this one, the likeliest first."""
    tag = start_there.machine()["python"]
    return _name_of_python(tag), "python3"


def _name_of_python(tag: str) -> str:
    """``python3.11`` of ``cpython-311``."""
    digits = tag.rpartition("-")[2]
    return f"python{digits[:1]}.{digits[1:]}"


def _version_of(text: str) -> str:
    """Of what ``sharebench --version`` says; empty where it said nothing."""
    words = text.split()
    return words[-1] if words else ""


def _found(answer: Answer, python: str) -> _Found | None:
    """What that Python said; None where it is not there or is none that we can read."""
    text = answer.stripped(f"python:{python}")
    try:
        found_program: _Found = JSONNode("", json.loads(text)).record(_Found)
    except (DocumentError, ValueError, RecursionError):
        return None
    return found_program


def _what_it_has(answer: Answer) -> str:
    version = _version_of(answer.stripped("version"))
    parts = [f"sharebench {version[:40]}"] if version else ["no sharebench"]
    machines = [found_program for python in _pythons() if (found_program := _found(answer, python))]
    for found_program in machines[:1]:
        parts.append(
            f"{_name_of_python(found_program.python)} for {found_program.platform} ({found_program.library})"[:100]
        )
    if not machines:
        parts.append("no Python 3 that answers")
    return " and ".join(parts)


def _carry(place: MeasuringPlace, on_program: OnProgram | None) -> MeasuringPlace:
    """Carry the program there. Raises MeasurementError."""
    archive = packed_program()
    command = _words_there(place.python, "take", __version__, program_digest(), str(len(archive)))
    began = time.monotonic()
    try:
        # As text, which the pipe gets back byte for byte.
        text = archive.decode(errors="surrogateescape")
        program = RunningProgram(ServerShell(place.ssh).words(f"exec {command}"), text=text)
    except OSError as error:
        raise errors.UnreachableError(
            f"cannot measure from {place.ssh}: `ssh` cannot be run here ({error.strerror})"
        ) from error

    if on_program is not None:
        on_program(program.end)
    _out, outcome = program.wait_while_it_moves(SILENT_SECONDS)
    if outcome.problem or outcome.code:
        raise errors.MeasurementError(f"the program could not be carried to {place.ssh}: {outcome.last_words}")
    return MeasuringPlace(
        ssh=place.ssh,
        python=place.python,
        carried_bytes=len(archive),
        carried_seconds=time.monotonic() - began,
    )


def _words_there(python: str, *words: str) -> str:
    """Shell text that runs ``start_there`` with these words."""
    return shlex.join([python, "-B", "-P", "-c", packed_start_text(), *words])
