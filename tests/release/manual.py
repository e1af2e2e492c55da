"""The manual pages, made from the help: ``sharebench(1)``, and one of each command, such as ``sharebench-run(1)``.

``python -m tests.release.manual`` writes them to where the wheel takes them from.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from app import __version__
from app.cli.help import COMMANDS, examples, grouped_options
from app.cli.main import cli

FOLDER = Path(__file__).parent / "data" / "share" / "man" / "man1"
README = Path(__file__).parents[2] / "README.md"

_EXITS = {
    "0": "Done. compare, try, watch, run --versus: not slower. audit: nothing harmful. diagnose: complete. verify:"
    " unchanged.",
    "1": "compare, try, watch, run --versus: slower. audit: something harmful. verify: changed.",
    "2": "Usage error. verify: not signed by a key that was given.",
    "3": "compare, try, watch, run --versus: inconclusive. audit: the settings could not be read.",
    "4": "The measurement failed or is invalid; what was measured before is kept.",
    "130": "Cancelled, or the time of --within is over; what was measured before is kept.",
}
_USUAL_EXITS = {"0": "Done.", "2": "Usage error.", "4": _EXITS["4"], "130": _EXITS["130"]}
_EXITS_OF_COMPARISONS = {"0": "Not slower.", "1": "Slower.", "3": "Inconclusive: the output says what would settle it."}
_EXITS_BY_COMMAND: dict[str, dict[str, str]] = {
    "compare": _EXITS_OF_COMPARISONS,
    "try": _EXITS_OF_COMPARISONS,
    "watch": _EXITS_OF_COMPARISONS | {"3": "Inconclusive, or postponed."},
    "run": {
        "0": "Done. With --versus: not slower.",
        "1": "With --versus: slower.",
        "3": "With --versus: inconclusive.",
    },
    "audit": {"0": "Nothing harmful.", "1": "Something harmful.", "3": "The settings could not be read."},
    "diagnose": {"0": "Complete, whatever it found."},
    "verify": {"0": "Unchanged.", "1": "Changed.", "2": "Usage error, or not signed by a key that was given."},
}
"""What exit codes mean of these commands, where it is something of their own."""
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


def pages() -> dict[str, str]:
    """All pages by the names of their files."""
    context = click.Context(cli, info_name="sharebench", help_option_names=["-h", "--help"])
    texts = {"sharebench.1": _text_of(_main_page(context))}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        command_context = click.Context(command, info_name=name, parent=context)
        texts[f"sharebench-{name}.1"] = _text_of(_page_of_command(command, command_context))
    return texts


def _text_of(lines: Iterator[str]) -> str:
    return "\n".join(filter(None, lines)) + "\n"


def _main_page(context: click.Context) -> Iterator[str]:
    yield from _head("sharebench", "measure SMB, FTP and local file storage, and keep every run")
    yield from _synopsis(cli, context)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(cli.help or "")
    yield from _paragraphs(cli.epilog or "")
    yield ".SH OPTIONS"
    yield from _options(cli, context)

    yield ".SH COMMANDS"
    for title, about_by_name in COMMANDS.items():
        yield from (".PP", rf"\fI{title}\fR")
        for name, about in about_by_name.items():
            yield from _entry(f"sharebench-{name}(1)", about)

    yield from _table("EXIT STATUS", _EXITS)
    yield from _table("ENVIRONMENT", _VARIABLES)
    yield from _table("FILES", _FILES)
    yield from _table("TRIED WITH", tried_servers())


def tried_servers() -> dict[str, str]:
    """What the README says was tried, by server and versions: the rows of its only table of them."""
    _, _, section = README.read_text(encoding="utf-8").partition("### Tried with\n")
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    tried = {}
    # The first two are the head of the table and the line below it.
    for row in rows[2:]:
        server, versions, what = (cell.strip() for cell in row.strip("| ").split("|"))
        tried[f"{server} {versions}"] = what.replace("`", "")
    return tried


def _page_of_command(command: click.Command, context: click.Context) -> Iterator[str]:
    name = context.info_name or ""
    group = next(about_by_name for about_by_name in COMMANDS.values() if name in about_by_name)

    yield from _head(f"sharebench-{name}", group[name])
    yield from _synopsis(command, context)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    if isinstance(command, click.Group):
        yield ".SH COMMANDS"
        yield from _subcommands(command, context)
    yield ".SH OPTIONS"
    yield from _options(command, context)

    exits = _USUAL_EXITS | _EXITS_BY_COMMAND.get(name, {})
    yield from _table("EXIT STATUS", {code: exits[code] for code in sorted(exits, key=int)})
    yield ".SH SEE ALSO"
    for page in ("sharebench", *(f"sharebench-{other}" for other in group if other != name)):
        yield rf".BR {roff(page)} (1)"


def _subcommands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        subcontext = click.Context(command, info_name=name, parent=context)
        usage = " ".join(command.collect_usage_pieces(subcontext))
        yield f'.SS "{roff(subcontext.command_path)} {roff(usage)}"'
        yield from _paragraphs(command.help or "")
        yield from _options(command, subcontext)


def _head(name: str, about: str) -> Iterator[str]:
    yield f'.TH {roff(name.upper())} 1 "" "sharebench {roff(__version__)}" "User Commands"'
    yield from (".SH NAME", rf"{roff(name)} \- {roff(about)}")


def _synopsis(command: click.Command, context: click.Context) -> Iterator[str]:
    yield ".SH SYNOPSIS"
    yield f".B {roff(context.command_path)}"
    yield roff(" ".join(command.collect_usage_pieces(context)))


def _table(title: str, entries: Mapping[str, str]) -> Iterator[str]:
    yield f".SH {title}"
    for name, text in entries.items():
        yield from _entry(name, text)


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
    """Write the pages to where the wheel takes them from, in place of those that are there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = pages()
    for page in FOLDER.glob("*.1"):
        if page.name not in texts:
            page.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
