"""The manual page ``sharebench(1)``, made from the help of every command.

``python -m tests.release.manual`` writes it to where the wheel takes it from.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from app import __version__
from app.cli.help import COMMANDS, examples, grouped_options
from app.cli.main import cli

PAGE = Path(__file__).parent / "data" / "share" / "man" / "man1" / "sharebench.1"
_EXITS = {
    "0": "Done. compare, try, watch: not slower. audit: nothing harmful. diagnose: complete. verify: unchanged.",
    "1": "compare, try, watch: slower. audit: something harmful. verify: changed.",
    "2": "Usage error. verify: not signed by a key that was given.",
    "3": "compare, try, watch: inconclusive. audit: the settings could not be read.",
    "4": "The measurement failed or is invalid; what was measured before is kept.",
    "130": "Cancelled, or the time of --within is over; what was measured before is kept.",
}
_VARIABLES = {
    "SHAREBENCH_DB": "The notebook, where --db does not name one.",
    "SHAREBENCH_PASSWORD": "The password of the login.",
    "NO_COLOR": "Where it is set, nothing is coloured.",
}
_FILES = {
    "~/.local/share/sharebench/notebook.db": "The notebook, a SQLite file.",
    "~/.config/sharebench/config.toml": "Servers by name, defaults of run, who measures and where. [servers.nas1] has"
    " address, share, path, user, domain, protocol, ssh, smb_conf and link; [defaults] the options of run, such as"
    " runs = 7; [who] name and ticket; [tui] a theme; [keys] keys for the commands that F1 names, such as"
    ' "notebook.new" = "w".',
    "certificate.pem": "Named by SSL_CERT_FILE: an FTPS certificate of your own to trust.",
}


def roff(text: str) -> str:
    """A text in which nothing is a command of roff."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def page() -> str:
    """The whole page."""
    context = click.Context(cli, info_name="sharebench", help_option_names=["-h", "--help"])
    lines = [
        f'.TH SHAREBENCH 1 "" "sharebench {roff(__version__)}" "User Commands"',
        ".SH NAME",
        r"sharebench \- measure SMB, FTP and local file storage, and keep every run",
        ".SH SYNOPSIS",
        f".B sharebench\n{roff(' '.join(cli.collect_usage_pieces(context)))}",
        ".SH DESCRIPTION",
        *_paragraphs(cli.help or ""),
        *_paragraphs(cli.epilog or ""),
        ".SH OPTIONS",
        *_options(cli, context),
        ".SH COMMANDS",
    ]
    for title, names in COMMANDS.items():
        lines += [".PP", rf"\fB{title}\fR", ".PP", roff(", ".join(names))]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        lines += _command(command, click.Context(command, info_name=name, parent=context))
    for title, entries in (("EXIT STATUS", _EXITS), ("ENVIRONMENT", _VARIABLES), ("FILES", _FILES)):
        lines.append(f".SH {title}")
        for name, text in entries.items():
            lines += _entry(name, text)
    return "\n".join(line for line in lines if line) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """A command with its options; of a command of commands, each as well."""
    yield f'.SS "{roff(context.command_path)} {roff(" ".join(command.collect_usage_pieces(context)))}"'
    yield from _paragraphs(command.help or "")
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, click.Context(inner, info_name=name, parent=context))


def _paragraphs(text: str) -> Iterator[str]:
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.strip():
            yield ".PP"
            yield roff(part.strip().removeprefix("\b").strip())


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for title, records in grouped_options(command, context).items():
        yield from (".PP", rf"\fI{title}\fR")
        for record in records:
            yield from _entry(*record)
    if lines := examples(context):
        yield from (".PP", r"\fIExamples\fR", ".PP", ".nf", *map(roff, lines), ".fi")


def _entry(name: str, text: str) -> list[str]:
    return [".TP", rf"\fB{roff(name)}\fR", roff(text)]


def write() -> None:
    """Write the page to where the wheel takes it from."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
