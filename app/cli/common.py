"""Shared by the commands: answers on stdout, messages on stderr, common options, and the notebook."""

import errno
import getpass
import math
import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from app.base.errors import CancelledError, NotebookError, PasswordInURLError, SharebenchError, UsageError
from app.charts import ascii_only
from app.cli.help import Group, command, did_you_mean, examples
from forms.layout import Tone, coloured, for_terminal, json_escaped, plain_signs, visible

if TYPE_CHECKING:
    from app.clients.base import Secrets
    from forms.report import Report
    from forms.watch.metrics import MetricSample
    from storage.notebook import Notebook
    from storage.records import Series, Target


class AnswerError(SharebenchError):
    """stdout cannot be written: its disk is full."""


def answer(text: str) -> None:
    """Print the answer on stdout. Raises AnswerError."""
    with writing_to_stdout():
        text = plain_signs(text, "...") if sys.stdout.isatty() and ascii_only() else text
        click.echo(for_terminal(text, styled=draws_colour()))


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """Flushes stdout; a reader that left (``| head``) is no error. Raises AnswerError."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_rest()
    except OSError as error:
        drop_rest()
        raise AnswerError(f"the answer could not be written to stdout: {error.strerror or error}") from error


def answer_for_programs(text: str) -> None:
    """Byte for byte, for `patch` and the like; a terminal is steered by none of it. Raises AnswerError."""
    if sys.stdout.isatty():
        answer(text.rstrip("\n"))
        return
    with writing_to_stdout():
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()


_FEW = 10
_LEAST_LETTERS = 3


def answer_ids(ids: Sequence[str]) -> None:
    """A line each for scripts; a terminal shows a few, as their number is said besides."""
    if ids and (len(ids) <= _FEW or not sys.stdout.isatty()):
        answer("\n".join(ids))


def answer_json(document: object) -> None:
    answer(json_text(document))


def answer_report(report: "Report", *, as_json: bool = False) -> None:
    if as_json:
        answer_json(report.document())
        return
    from forms.exporters.text import report_text

    answer(report_text(report, ansi=draws_colour()).rstrip("\n"))


CHART_LINES = 16
_CHART_COLUMNS = 80


def chart_columns() -> int:
    return min(shutil.get_terminal_size().columns, _CHART_COLUMNS)


def json_text(document: object) -> str:
    """Escapes control characters, and the bytes of names that are not UTF-8."""
    import json

    return json_escaped(json.dumps(document, indent=2, ensure_ascii=False))


def draws_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def toned(text: str, tone: Tone) -> str:
    return coloured(text, tone) if draws_colour() else text


def drop_rest(descriptor: int = 1) -> None:
    """Discard pending output, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def confirm(question: str, *, declined: str, alone: str = "") -> None:
    """Raises UsageError without a terminal, CancelledError for a no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(alone or f"not a terminal: pass --yes to confirm; {declined}")
    if not click.confirm(question, err=True):
        raise CancelledError(declined)


def say(*texts: str) -> None:
    """Print messages on stderr, a line each, with control characters escaped."""
    for text in texts:
        _write(f"{for_terminal(text)}\n")


def recommend(command: str, options: str, verb: str) -> None:
    if command or options:
        say(f"Recommendation: {command or f'{verb} with {options}'}")


def draw(text: str = "") -> None:
    """A line on stderr that the next one replaces, cut to the terminal's width."""
    _write("\r\x1b[K" + visible(text)[: shutil.get_terminal_size().columns - 1])


def _write(text: str) -> None:
    try:
        sys.stderr.write(plain_signs(text, "...") if sys.stderr.isatty() and ascii_only() else text)
        sys.stderr.flush()
    except OSError:
        drop_rest(2)


def unforeseen(error: Exception, *, debug: bool) -> SharebenchError:
    """One line for an error of the notebook, the system or our own."""
    import sqlite3

    from storage.errors import NotebookFileError, unusable

    if isinstance(error.__cause__, KeyboardInterrupt):  # as Python tells one within a class that it makes
        return CancelledError("cancelled")
    if isinstance(error, sqlite3.Error):
        error = unusable(error)
    if isinstance(error, NotebookFileError):
        return NotebookError(str(error), options=error.options)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        drop_rest()
        return SharebenchError(f"nothing more could be written: {error.strerror}; make room, and try again")
    what = f"a fault in sharebench: {type(error).__name__}: {error}; what was measured is kept"
    advice = "please report it" if debug else "please report it with what the same command says with --debug"
    return SharebenchError(f"{what}; {advice}")


def _without_passwords(said: str, arguments: Sequence[str]) -> str:
    from app.base.targets import may_hold_password, without_password

    users = {word for option, word in pairwise(arguments) if "://" in word or option == "--server-ssh"}
    for word in sorted(arguments, key=len, reverse=True):
        if word in users and "%" not in word and not may_hold_password(word):
            continue
        if "@" in word or "://" in word:
            for written in (word, os.path.normpath(word)):  # pathlib, in its errors, drops a slash
                said = said.replace(written, without_password(written))
    return said


def one_line(error: click.ClickException) -> str:
    said = " ".join(error.format_message().split()).rstrip(".")
    said = said[:1].lower() + said[1:]
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return said
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(context.command, click.Group):
        said = f"{context.info_name} needs one of {', '.join(context.command.list_commands(context))}"
    elif isinstance(error, click.NoSuchOption):
        said = f"no such option {error.option_name}" + did_you_mean(_options_near(error.option_name, context))
    elif isinstance(error, click.MissingParameter) and (lines := examples(context)):
        said += f"; example: `{lines[0]}`"
    return f"{said}{' See' if said.endswith('?') else '; see'} `{context.command_path} --help`"


def _options_near(typed: str, context: click.Context) -> list[str]:
    """Of the same letters, else with all its words, else where one begins the other, else of similar letters."""
    from difflib import get_close_matches

    known = [
        word
        for option in context.command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden
        for word in option.opts
        if word.startswith("--")
    ]
    letters = {word.replace("-", ""): word for word in known}
    name = typed.replace("-", "").lower()
    words = set(typed.lower().strip("-").split("-"))
    found = [word for short, word in letters.items() if name == short]
    if len(name) >= _LEAST_LETTERS:
        found = found or [word for word in known if words <= set(word.strip("-").split("-"))]
        found = found or [word for short, word in letters.items() if short.startswith(name) or name.startswith(short)]
    return (found or [letters[near] for near in get_close_matches(name, letters, cutoff=0.75)])[:2]


def fail(error: SharebenchError, *, debug: bool, arguments: Sequence[str] = ()) -> int:
    """Print the error and return its exit code; ``arguments`` may hold passwords, which are not repeated."""
    if debug:
        say(_without_passwords(traceback.format_exc(), arguments))
    said = f"{error} ({error.options})" if error.options else str(error)
    say(f"sharebench: {visible(' '.join(_without_passwords(said, arguments).split()))}")
    return error.exit_code


__all__ = ["Group", "command"]
_F = TypeVar("_F", bound=Callable[..., Any])


OpenTUI = Callable[..., int]


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> object:
    if value is not None and parameter.name:
        context.find_root().ensure_object(dict)[parameter.name] = value
    return value


def several(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Combines options; --help shows them in this order."""

    def decorate(function: _F) -> _F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _in_words(kind: click.IntRange | click.FloatRange) -> str:
    least = f"{'above' if kind.min_open else 'from'} {kind.min:,}"
    return least if kind.max is None else f"{least} {'to below' if kind.max_open else 'to'} {kind.max:,}"


class Number(click.FloatRange):
    """A number in a range; NaN is refused."""

    name = "number"
    _describe_range = _in_words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


class Count(click.IntRange):
    name = "whole number"
    _describe_range = _in_words


def option(
    word: str, metavar: str, text: str, kind: Any = None, *, name: str = "", default: Any = None, **more: Any
) -> Callable[[_F], _F]:
    names = (word, name) if name else (word,)
    given = {} if default is None else {"default": default, "show_default": default != ""}
    return click.option(*names, type=kind, metavar=metavar, help=text, **{**given, **more})


def within_option(text: str, default: int | None = None) -> Callable[[_F], _F]:
    return option("--within", "MINUTES", text, Count(1, 10_000), name="within_minutes", default=default)


whole_time_option = within_option("Longest time; it ends with what fits, or can be resumed.")


def within(choices: Mapping[str, Any]) -> float:
    return 60.0 * choices["within_minutes"] if choices["within_minutes"] else math.inf


def verdict_options(function: _F) -> _F:
    from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

    text = "No change: the 95 % interval lies within ± PERCENT."
    return several(
        option("--noise", "PERCENT", "A change within ± PERCENT is never faster or slower.", Number(0, 100),
               default=NOISE_PERCENT),
        option("--margin", "PERCENT", text, Number(0, 1000, min_open=True), default=MARGIN_PERCENT),
    )(function)  # fmt: skip


_NAMED = 5
options_of_all = several(
    click.pass_context,
    click.option("--db", metavar="FILE", expose_value=False, callback=_keep, help="Notebook to use."),
    click.option("--credentials", metavar="FILE", expose_value=False, callback=_keep, help="File with the login."),
)
"""--db and --credentials, accepted after the command's name too; the context is the first argument."""


def _refuse_password(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    from app.base.targets import CREDENTIALS_OPTION, HOW_TO_LOG_IN

    if value is not None:
        raise PasswordInURLError(
            f"a password on the command line can be read by others: {HOW_TO_LOG_IN}", options=CREDENTIALS_OPTION
        )


login_options = several(
    click.option("--kerberos", is_flag=True, help="Log in with the Kerberos ticket in the cache."),
    click.option(
        "--password", "--passwd", "--pass", hidden=True, expose_value=False, is_eager=True, callback=_refuse_password
    ),
)


def answering_options(help_of_json: str, *more: Callable[[Any], Any]) -> Callable[[_F], _F]:
    return several(click.option("--json", "as_json", is_flag=True, help=help_of_json), *more, options_of_all)


def measuring_options(help_of_json: str) -> Callable[[_F], _F]:
    return answering_options(help_of_json, login_options)


textfile_option = option("--textfile", "FILE", "Also write Prometheus text, for node_exporter's textfile collector.")


def write_textfile(file_name: str | None, samples: "Callable[[], list[MetricSample]]") -> None:
    """Whole or not at all. Raises CannotWriteError."""
    if file_name:
        from app.base.output import output_file
        from forms.watch.metrics import prometheus_text

        with output_file(Path(file_name)) as file:
            file.write(prometheus_text(samples()))


@contextmanager
def zeros_if_it_fails(file_name: str | None, samples: "Callable[[], list[MetricSample]]") -> Iterator[None]:
    """Write these samples where what is inside cannot measure."""
    try:
        yield
    except UsageError:
        raise
    except SharebenchError:
        write_textfile(file_name, samples)
        raise


def size(text: str | int) -> int:
    from app.base.units import parse_size

    return text if isinstance(text, int) else parse_size(text)


def rate(text: str | int) -> int | None:
    from app.base.units import parse_rate

    return text if isinstance(text, int) else None if text == "auto" else parse_rate(text)


def given_options(context: click.Context) -> dict[str, str]:
    typed = click.core.ParameterSource.COMMANDLINE
    told = ((one.name, one.opts[0]) for one in context.command.params if one.expose_value)
    return {name: word for name, word in told if name and context.get_parameter_source(name) is typed}


def refuse_given(
    context: click.Context, with_parameter: str, allowed: AbstractSet[str], why: str = "measures as the series began"
) -> None:
    """Raises UsageError for options that another one makes meaningless."""
    given = given_options(context)
    option = given.pop(with_parameter)
    for name, word in given.items():
        if name not in allowed:
            raise UsageError(f"{option} {why}: leave {word} out")


ALLOWED_WITH_RESUME = frozenset({"as_json", "kerberos", "target", "yes", "within_minutes"})
"""The options that an isolation or a diagnosis takes beside --resume: the others are stored with it."""


def to_resume(
    context: click.Context, reference: str, allowed: AbstractSet[str], *kinds: str, target: str | None = None,
    confirmed: bool = False,
) -> "tuple[Any, Target]":  # fmt: skip
    """What ``--resume`` names, and where it logs in; ``confirmed`` takes an imported one too. Raises UsageError."""
    from app.recording.resuming import record_to_resume

    if target:
        raise UsageError(f"--resume takes the target from the {kinds[0]}: leave the TARGET out")
    word = next(parameter.name for parameter in context.command.params if "--resume" in parameter.opts)
    refuse_given(context, str(word), allowed)
    with notebook(context) as found:
        return record_to_resume(found, reference, *kinds, confirmed=confirmed)


def notebook_path(context: click.Context) -> Path:
    if chosen := (context.find_root().obj or {}).get("db"):
        return _checked_path(Path(chosen))
    from platformdirs import user_data_path

    return user_data_path("sharebench", appauthor=False) / "notebook.db"


def _checked_path(path: Path) -> Path:
    """Raises UsageError for a name that no file can have."""
    try:
        os.lstat(f"{path}{_LONGEST_SUFFIX}")
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            shown = visible(str(path)[:_SHOWN_CHARACTERS])
            raise UsageError(
                f"--db {shown}…: the name of a notebook cannot be as long as that; name another file"
            ) from error
    except ValueError as error:
        raise UsageError(f"--db {visible(str(path)[:_SHOWN_CHARACTERS])}: {error}; name another file") from error
    return path


_LONGEST_SUFFIX = "-journal"
"""Of the files that SQLite keeps beside a notebook."""
_SHOWN_CHARACTERS = 60


def check_can_store(context: click.Context) -> None:
    """Before anybody is asked for a password or anything is measured. Raises NotebookError, UsageError."""
    from app.recording import rescue

    rescue.check_can_store(notebook_path(context))


def has_notebook(path: Path) -> bool:
    """Also where it cannot be looked at: that is told where it is opened."""
    try:
        return path.exists()
    except OSError:
        return True


IN_MEMORY = "notebook in memory"
"""The notebook that a command works with in place of the file's, in the context's object."""


@contextmanager
def notebook(context: click.Context, *, make: bool = False) -> "Iterator[Notebook]":
    """``make`` creates a missing notebook. Raises UsageError, also for references that are not found."""
    from storage.notebook import Notebook

    path = notebook_path(context)
    in_memory = (context.find_root().obj or {}).get(IN_MEMORY)
    if in_memory is not None:
        with _references_told():
            yield in_memory
        return

    if not make and not has_notebook(path):
        raise UsageError(
            f"there is no notebook at {visible(str(path.absolute()))}: name another file with --db, or measure"
            " something first: sharebench run TARGET"
        )
    with Notebook(path) as found:
        if found.remark:
            _say_once(context, found.remark)
        for entry in found.left_behind() if context.info_name != "restore" else ():
            _say_once(
                context, f"sharebench: an interrupted trial left {entry.left}: restore it with `sharebench restore`"
            )
        with _references_told():
            yield found


@contextmanager
def _references_told() -> "Iterator[None]":
    from storage.errors import RefusedError
    from storage.recordings import UnknownReferenceError

    try:
        yield
    except UnknownReferenceError as error:
        raise UsageError(str(error)) from error
    except RefusedError as error:
        raise UsageError(str(error), options=error.options) from error


def _say_once(context: click.Context, text: str) -> None:
    said = context.find_root().ensure_object(dict).setdefault("said", set())
    if text not in said:
        said.add(text)
        say(text)


def series(context: click.Context, reference: str) -> "Series":
    """Raises UsageError."""
    with notebook(context) as found:
        return found.series(reference)


def target_and_secrets(context: click.Context, url: str, *, kerberos: bool = False) -> "tuple[Target, Secrets]":
    """Asks on a terminal. Raises UsageError, LoginError."""
    from app.base.targets import parse_target

    return secrets_for(context, parse_target(url), kerberos=kerberos)


def secrets_for(context: click.Context, target: "Target", *, kerberos: bool = False) -> "tuple[Target, Secrets]":
    """Asks on a terminal. Raises UsageError, LoginError."""
    from app.clients.logins import can_be_read_by_others, log_in_as

    if has_notebook(notebook_path(context)):
        with notebook(context) as found:  # says what an interrupted trial left changed there
            for entry in found.at_work():
                _say_once(context, f"sharebench: a running trial has {entry.left}: a measurement there includes that")
            ids = [one.id for one in found.left_over()] if context.info_name != "clean" else []
            if ids:
                more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
                _say_once(
                    context,
                    f"sharebench: leftovers of {', '.join(ids[:_NAMED])}{more} may still be on their targets:"
                    f" `sharebench show {ids[0]}` names them, `sharebench clean TARGET` removes them",
                )
    credentials = (context.find_root().obj or {}).get("credentials")
    if credentials and can_be_read_by_others(Path(credentials)):
        _say_once(
            context,
            f"sharebench: every user of this machine can read the credentials file {visible(credentials)}:"
            f" `chmod 600 {visible(shlex.quote(credentials))}` keeps it for you",
        )
    ask = partial(getpass.getpass, stream=sys.stderr) if sys.stdin.isatty() and sys.stderr.isatty() else None
    return log_in_as(target, credentials=Path(credentials) if credentials else None, kerberos=kerberos, ask=ask)
