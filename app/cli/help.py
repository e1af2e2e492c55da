"""Help: commands and options in groups, and examples; the same for ``--help`` and for the manual page."""

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import click

COMMANDS = {
    "Measure": {
        "run": "Time transfers of one file",
        "load": "Measure with many users at once",
        "survey": "Measure everything on one server",
        "selftest": "Find the smallest change that this setup can show",
        "guide": "Measure step by step, with advice",
        "demo": "Practise on servers that sharebench starts itself",
        "check": "Check that a target can be measured",
    },
    "Understand": {
        "audit": "Find harmful and useless settings of a server",
        "isolate": "Disk, network or Samba: find the limit",
        "diagnose": "Find out why users complain",
        "compare": "Faster, slower, no change or inconclusive",
        "watch": "Compare a server with its baseline, on a schedule",
        "history": "Show one path over time, and when it changed",
        "schedule": "Print a timer that runs watch every night",
        "findings": "Explain what series say about a server",
        "catalogue": "List the settings that are worth changing",
        "worksheet": "Calculate bottlenecks and numbers of clients",
    },
    "Change": {
        "try": "Change one setting, measure it, restore it",
        "sweep": "Find the best of several values",
        "tune": "Try the recommended settings one after another",
        "restore": "Restore settings after an interruption",
        "experiment": "Show a series of changes; keep or restore steps",
    },
    "Notebook": {
        "list": "List recordings, newest first (also: ls)",
        "show": "Show one recording",
        "note": "Add a note to a recording",
        "rename": "Change a label or the name of an experiment",
        "reject": "Leave one run out of the averages",
        "accept": "Count a rejected run again",
        "baseline": "Name recordings to compare with",
        "delete": "Delete recordings (also: rm)",
        "prune": "Delete series that failed before they measured anything",
        "clean": "Remove files that sharebench left on a share",
    },
    "Share": {
        "export": "Write forms as text, CSV, HTML, XLSX, PDF or JSON",
        "report": "Write one page for somebody else",
        "import": "Add recordings from a file",
        "verify": "Check a signed export",
        "push": "Send recordings to another notebook through ssh",
        "pull": "Fetch recordings from another notebook through ssh",
        "completion": "Complete commands and options in your shell",
    },
}
"""Commands by purpose, with their line in the program's help."""

_GROUPS = {
    "How often": (
        "runs warmups until_percent max_runs reject_unusual versus again resume resume_reference resumed"
        " confirm_target confirm blocks rounds seconds within_minutes users find_capacity by_size clients duration"
        " settle ramp window_seconds stop_after apart quick thorough"
    ),
    "Network and quiet time": (
        "link_bits_per_second timeout_seconds quiet_time wait_seconds ceiling iperf3 smb_port ftp_port iperf3_port"
    ),
    "Server": "server_ssh smb_conf user ftp_user kerberos sign encrypt hosts expose_tbench allow_restart",
    "Output": (
        "label note question experiment change noise margin as_json formats file_name force paper printer anonymous key"
        " save chart textfile on_change"
    ),
    "General": "db credentials debug version",
}
_GROUP_OF = {name: title for title, names in _GROUPS.items() for name in names.split()}
_FIRST = "What"
_NAME_CELLS = 27
"""Longer names of options stand on a line of their own."""

_FILE, _FOLDER = "smb://alice@nas/public/big.iso", "smb://alice@nas/public/"
EXAMPLES: dict[str, tuple[str, ...]] = {
    "": ("demo", f"run {_FILE}", "help try"),
    "guide": ("guide", "guide --plain"),
    "demo": ("demo", "demo --headless --runs 3"),
    "check": (f"check {_FILE}", f"check --put {_FOLDER} --server-ssh root@nas"),
    "audit": ("audit --smb-conf /etc/samba/smb.conf", "audit smb://nas/public --server-ssh root@nas --fix"),
    "run": (f"run {_FILE} --link 1G", f"run --put --size 2G {_FOLDER}", "run ftp://nas/pub/big.iso --until 2"),
    "load": (
        f"load {_FOLDER} --users 10..50/10",
        f"load {_FOLDER} --scenario office --find-capacity --server-ssh root@nas",
        "load --resume last",
    ),
    "list": ("list", "list nas --limit 10", "list --json"),
    "show": ("show last", "show last --json"),
    "reject": ("reject last 3 --reason 'backup was running'",),
    "accept": ("accept last 3",),
    "note": ("note last 'new switch, 10 Gbit/s'",),
    "rename": ("rename last 'new switch'",),
    "delete": ("delete last",),
    "prune": ("prune --failed",),
    "baseline set": ("baseline set before last",),
    "baseline add": ("baseline add before last",),
    "baseline remove": ("baseline remove before",),
    "baseline list": ("baseline list",),
    "compare": ("compare before last", "compare before last --json"),
    "findings": ("findings last",),
    "watch": (f"watch {_FILE} --baseline nightly", f"watch {_FILE} --baseline nightly --on-change 'mail -s slow root'"),
    "history": (f"history {_FILE}", "history last --new-normal last", "history nightly -o history.html"),
    "schedule": (f"schedule {_FILE} --baseline nightly --print systemd",),
    "try": (
        f"try 'server signing=mandatory' {_FILE} --server-ssh root@nas",
        f"try 'strict sync=no' --put {_FOLDER} --accept-risk 'strict sync'",
        f"try 'log level=3' {_FOLDER} --load 10",
    ),
    "sweep": (f"sweep SO_SNDBUF=16K,64K,256K {_FILE} --server-ssh root@nas",),
    "tune": (f"tune {_FILE} --server-ssh root@nas",),
    "restore": ("restore --list", "restore"),
    "survey": ("survey nas --smb public --ftp /pub --user alice",),
    "isolate": (
        "isolate smb://alice@nas/public --server-ssh root@nas --expose-tbench nas",
        "isolate smb://alice@nas/public --without find_first,query_path_information",
    ),
    "diagnose": ("diagnose smb://alice@nas/public",),
    "selftest": (f"selftest {_FILE}", f"selftest {_FILE} --apart 3"),
    "experiment list": ("experiment list",),
    "experiment show": ("experiment show tuning",),
    "experiment keep": ("experiment keep last",),
    "experiment revert": ("experiment revert last",),
    "export": ("export last -o form.pdf", "export --all --format xlsx -o notebook.xlsx"),
    "report": ("report tuning -o report.html", "report before last -o report.pdf"),
    "import": ("import form.json", "import --example"),
    "verify": ("verify evidence.json --key sender.pub",),
    "push": ("push nas-team",),
    "pull": ("pull nas-team",),
    "worksheet bottleneck": ("worksheet bottleneck --tables", "worksheet bottleneck --cpu 60M --disk 8M --disks 4"),
    "worksheet clients": ("worksheet clients --group 36:2.3:12KB --capacity 960KB",),
    "worksheet list": ("worksheet list",),
    "worksheet show": ("worksheet show bottleneck nas",),
    "catalogue": ("catalogue", "catalogue 'strict sync'"),
    "clean": (f"clean {_FOLDER}",),
    "completion": ('eval "$(sharebench completion bash)"',),
}
"""Command lines by command, without ``sharebench`` in front."""


def path_of(context: click.Context) -> str:
    """A command's names below the program's, such as ``baseline set``, whatever alias it was called by."""
    return f"{path_of(context.parent)} {context.command.name}".strip() if context.parent else ""


def examples(context: click.Context) -> list[str]:
    """The command lines that a command's help ends with."""
    lines = EXAMPLES.get(path_of(context), ())
    return [line if line.startswith("eval ") else f"sharebench {line}" for line in lines]


def grouped_options(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The options' names and sentences by group, in the groups' order."""
    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in (_FIRST, *_GROUPS)}
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record and isinstance(option, click.Option):
            default = option.get_help_extra(context).get("default")
            text = f"{option.help} ({default})" if default else option.help or ""
            title = "General" if "--help" in option.opts else _GROUP_OF.get(option.name or "", _FIRST)
            groups[title].append((record[0], text))
    return {title: records for title, records in groups.items() if records}


class _GroupedHelp(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = grouped_options(self, ctx)
        width = min(_NAME_CELLS, max(len(name) for records in groups.values() for name, _ in records))
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in records])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if lines := examples(ctx):
            with formatter.section("Examples"):
                for line in lines:
                    formatter.write(f"{_broken(line)}\n")


def _broken(line: str) -> str:
    """A command line for 80 columns, continued as a shell reads it."""
    return " \\\n".join(
        textwrap.wrap(line, 77, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    )


class GroupedCommand(_GroupedHelp):
    """A command whose help has groups and examples."""


class Group(_GroupedHelp, click.Group):
    """A command of commands, which suggests similar names for an unknown one."""

    command_class = GroupedCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches  # noqa: PLC0415  the first paint does not wait for it

        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.list_commands(ctx), n=2, cutoff=_LIKENESS)
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"no such command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)


_LIKENESS = 0.65
"""Similarity of two words that makes one a possible typo of the other."""


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """As :func:`click.command`, with grouped help."""
    return click.command(name, cls=GroupedCommand, **attributes)


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Each command below, with its path such as ``baseline set`` and its context."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            below = click.Context(inner, info_name=name, parent=context)
            yield path_of(below), inner, below
            yield from walk(inner, below)
