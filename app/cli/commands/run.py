"""``sharebench run``: one series, measured and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.cli import common
from app.cli.commands.reject import reject_unusual
from app.cli.progress import ProgressLine
from app.cli.series_output import show
from app.clients.registry import check_client_name
from app.errors import PasswordInURLError, UsageError
from app.measure.control import SeriesControl
from app.measure.plan import MeasurementPlan
from app.recorder.recording import SeriesClosed, failure_of, record, resume
from app.recorder.request import SeriesRequest
from app.targets import check_complete
from storage.plan import (
    DEFAULT_MAX_RUNS,
    DEFAULT_RUNS,
    DEFAULT_SIZE_BYTES,
    DEFAULT_WARMUPS,
    CeilingPolicy,
    QuietTime,
    Settings,
)
from storage.records import Command, Experiment, Target

_WITH_RESUME = {"as_json", "kerberos", "reject_unusual", "target"}


def _change(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, str] | None:
    if value is None:
        return None
    name, separator, setting = value.partition("=")
    if not separator or not name.strip():
        raise UsageError(f"not a change: {value!r}; write --change NAME=VALUE, such as --change 'strict sync=no'")
    return name.strip(), setting.strip()


@click.command("run", short_help="measures one series and prints the form")
@click.argument("target", required=False)
@click.option("--get", "command", flag_value="get", default="get", help="Server to client (the default).")
@click.option("--put", "command", flag_value="put", help="Client to server.")
@click.option(
    "--runs", type=common.Count(1, 100_000), default=DEFAULT_RUNS, show_default=True, metavar="N", help="Measured runs."
)
@click.option(
    "--warmup",
    type=common.Count(0, 1000),
    default=DEFAULT_WARMUPS,
    show_default=True,
    metavar="N",
    help="Runs before them.",
)
@click.option(
    "--until", type=common.Number(0, 100, min_open=True), metavar="PERCENT",
    help="Go on until the mean's 95 % interval is within ± this.",
)  # fmt: skip
@click.option(
    "--max-runs",
    type=common.Count(1, 100_000),
    default=DEFAULT_MAX_RUNS,
    metavar="N",
    show_default=True,
    help="The cap of --until.",
)
@click.option("--size", type=common.SizeType(), help="Size of the file that is made (64M for a put).")
@click.option("--make-file", is_flag=True, help="For a get: put a file first, remove it at the end.")
@click.option("--link", type=common.RateType(), default="auto", show_default=True, help="Nominal rate: 100M, 1G …")
@click.option("--client", "client_name", metavar="NAME", default="", help="sharebench, smbclient, curl …")
@click.option("--block", type=common.SizeType(), help="Bytes in one request.")
@click.option("--in-flight", type=common.Count(1, 512), metavar="N", help="Requests under way at once.")
@click.option("--sign", is_flag=True, help="Sign although the server does not require it.")
@click.option("--encrypt", is_flag=True, help="Encrypt although the server does not require it.")
@click.option("--drop-cache", is_flag=True, help="file:// only: read from the disk, not from the page cache.")
@click.option("--verify", is_flag=True, help="Compare content after the timed runs.")
@click.option("--label", default="", metavar="TEXT", help="A short name for the form.")
@click.option("--note", default="", metavar="TEXT", help="Anything worth keeping with it.")
@click.option("--experiment", metavar="NAME", help="Make it the next rung of a ladder of changes.")
@click.option("--change", callback=_change, metavar="NAME=VALUE", help="The ONE parameter changed since the last rung.")
@click.option(
    "--again", metavar="SERIES", help="The settings of SERIES measured again: a repeat of it in its experiment."
)
@click.option(
    "--quiet-time", type=click.Choice(["record", "require", "skip"]), default="record", show_default=True,
    help="Look how busy it is; refuse a busy time; or do not look.",
)  # fmt: skip
@click.option("--wait", type=common.Number(0), default=0, metavar="SECONDS", help="Wait that long for a quiet time.")
@click.option("--server-ssh", metavar="[USER@]HOST", help="Read facts of the server through ssh.")
@click.option("--smb-conf", metavar="FILE", help="Where the server keeps its smb.conf.")
@click.option(
    "--timeout", type=common.Number(0.1, 86400), default=30, show_default=True, metavar="SECONDS",
    help="A run with no progress for that long fails.",
)  # fmt: skip
@click.option("--reject-unusual", is_flag=True, help="Mark unusual runs unusable; intervals get too narrow by it.")
@click.option("--resume", "resume_reference", metavar="SERIES", help="Complete an interrupted series.")
@click.option(
    "--ceiling",
    type=click.Choice([wish.value for wish in CeilingPolicy]),
    default=CeilingPolicy.RECORD.value,
    show_default=True,
    help="This client's own limit here: calibrate it once, anew, or leave it out.",
)
@click.option("--json", "as_json", is_flag=True, help="The series document instead of the form.")
@common.login_options
@common.options_of_all
@click.pass_context
def run_command(context: click.Context, /, target: str | None, resume_reference: str | None, **choices: Any) -> int:
    """Measures one series against TARGET, records each run as it ends, and prints the form.

    TARGET is smb://[DOMAIN;][USER@]HOST[:PORT]/SHARE/PATH, ftp://…, ftps://…, file:///PATH or iperf3://HOST[:PORT].
    For --put, PATH names a folder.
    """
    control = SeriesControl()
    path = common.notebook_path(context)
    if resume_reference:
        if target:
            raise UsageError("--resume takes the target from the series: leave the TARGET out")
        common.refuse_given(context, "resume_reference", _WITH_RESUME)
        series = common.series(context, resume_reference)
        _, secrets = common.secrets_for(context, series.target, kerberos=choices["kerberos"])
        events = resume(series.id, secrets, path, control)
    elif not target:
        raise UsageError("what shall be measured? sharebench run TARGET; see `sharebench run --help`")
    else:
        order = order_of(context, target, choices)
        events = record(order, path, control)
    closed = watch(events, control)
    failure = failure_of(closed)
    if choices["reject_unusual"]:
        reject_unusual(context, closed.series_id)
    found = common.series(context, closed.series_id)
    if found.runs or choices["as_json"]:
        show(found, as_json=choices["as_json"])
    if failure:
        raise failure
    return 0


def watch(events: Any, control: SeriesControl) -> SeriesClosed:
    """Draw the events of a series to its end; Ctrl-C cancels it."""
    progress = ProgressLine()
    closed: SeriesClosed | None = None
    with common.stopping_politely(control):
        for event in events:
            if isinstance(event, SeriesClosed):
                closed = event
            else:
                progress.show(event)
    progress.clear()
    assert closed
    return closed


def order_of(context: click.Context, url: str, choices: dict[str, Any]) -> SeriesRequest:
    """The order that the options describe. Raises UsageError, LoginError."""
    command = Command(choices["command"])
    target, secrets = common.target_and_secrets(context, url, kerberos=choices["kerberos"])
    check_complete(target, command, make_file=choices["make_file"])
    if choices["make_file"] and command is Command.PUT:
        raise UsageError("--make-file belongs to a get: a put makes its file anyway")
    if choices["size"] and command is Command.GET and not choices["make_file"] and target.abilities.moves_files:
        raise UsageError("--size belongs to --put or --make-file: a get reads the file as it is")
    if choices["change"] and not choices["experiment"]:
        raise UsageError("--change belongs to an experiment: name it with --experiment NAME")
    if choices["again"] and choices["change"]:
        raise UsageError("--again repeats settings, --change makes new ones: leave one of them out")
    again = common.series(context, choices["again"]) if choices["again"] else None
    named = choices["experiment"] or (again.experiment if again else None)
    _check_settings(target, command, choices)
    if ":" in (choices["server_ssh"] or "").rpartition("@")[0]:
        raise PasswordInURLError("a password does not belong in --server-ssh: `ssh HOST true` must work without one")
    makes_one = command is Command.PUT or choices["make_file"] or not target.abilities.moves_files
    plan = MeasurementPlan(
        command=command,
        target=target,
        client=check_client_name(target.protocol, choices["client_name"]),
        settings=Settings(
            block_bytes=choices["block"],
            in_flight=choices["in_flight"],
            sign=choices["sign"],
            encrypt=choices["encrypt"],
            timeout_seconds=choices["timeout"],
            drop_cache=choices["drop_cache"],
        ),
        runs=choices["runs"],
        warmups=choices["warmup"],
        until_percent=choices["until"],
        max_runs=max(choices["max_runs"], choices["runs"]) if choices["until"] is None else choices["max_runs"],
        size_bytes=(choices["size"] or DEFAULT_SIZE_BYTES) if makes_one else None,
        make_file=choices["make_file"],
        verify=choices["verify"],
        secrets=secrets,
    )
    name, value = choices["change"] or (None, "")
    return SeriesRequest(
        plan=plan,
        link_bits_per_second=None if choices["link"] == "auto" else choices["link"],
        label=choices["label"],
        note=choices["note"],
        experiment=Experiment(name=named) if named else None,
        base_id=again.id if again else None,
        change_name=name,
        change_value=value,
        quiet_time=QuietTime(choices["quiet_time"]),
        wait_seconds=choices["wait"],
        server_ssh=choices["server_ssh"],
        smb_conf=Path(choices["smb_conf"]) if choices["smb_conf"] else None,
        ceiling=CeilingPolicy(choices["ceiling"]),
    )


def _check_settings(target: Target, command: Command, choices: dict[str, Any]) -> None:
    """Whether the target and the client can do what is asked for. Raises UsageError."""
    protocol, client = target.abilities, choices["client_name"]
    if not protocol.has_dialect and (choices["sign"] or choices["encrypt"]):
        instead = f"; {protocol.label} encrypts as {protocol.encrypted_as}://" if protocol.encrypted_as else ""
        raise UsageError(f"--sign and --encrypt belong to smb://: leave them out{instead}")
    if not protocol.is_local and choices["drop_cache"]:
        raise UsageError("--drop-cache belongs to file://: the page cache of a server cannot be dropped from here")
    if choices["verify"] and not protocol.moves_files:
        raise UsageError(f"{protocol.name} moves no file, so there is nothing to verify: leave out --verify")
    if choices["verify"] and command is Command.GET and client not in ("", "sharebench"):
        raise UsageError(f"{client} lets the bytes that it gets go, so they cannot be verified: leave out --client")
