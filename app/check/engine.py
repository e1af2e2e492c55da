"""The check before a measurement: whether a target can be reached and moved to or from, and what would disturb it."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum

from app.base import targets
from app.base.errors import (
    LoginError,
    MeasurementError,
    NoSuchFileError,
    NoSuchShareError,
    NotAFileError,
    UnreachableError,
)
from app.clients.base import Client, Content, Meter, Secrets, make_client
from app.recording.ceiling import ceiling_of
from app.recording.process import RunGate
from app.recording.spec import SeriesSpec
from app.server.changes.samba_place import writable_text
from app.server.facts import Environment, collect
from app.server.link_facts import Link
from app.server.quiet_time import QuietWatch
from forms import wording
from forms.findings.rules_series import harmful_in, why_hidden
from forms.findings.series_warnings import CEILING_PERCENT
from forms.layout import Sign
from forms.series.file_size import FileFit, FileSizeContext
from forms.series.wording import suitability
from forms.wording import binary_size, byte_rate, link_rate, milliseconds
from storage.notebook import Notebook
from storage.records import ClientFacts, Command, QuietVerdict, Series, Target, format_target, utc_now

_NAMED_FILES = 8


class CheckState(StrEnum):
    FINE = "ok"
    ATTENTION = "warn"
    UNKNOWN = "unknown"
    FAILED = "failed"

    @property
    def sign(self) -> Sign:
        signs = {CheckState.FINE: Sign.GOOD, CheckState.ATTENTION: Sign.WARNING, CheckState.FAILED: Sign.BAD}
        return signs.get(self, Sign.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out about one thing, and what can be done about it."""

    name: str
    """Of the thing: reach, log in, share, file, …"""
    text: str
    state: CheckState = CheckState.FINE
    options: str = ""
    """Of `check` and `run`, with which more would be known; empty where none are."""
    command: str = ""
    """Another command that tells more; empty where none does."""


def check(target: Target, secrets: Secrets, spec: SeriesSpec, notebook: Notebook) -> Iterator[Checked]:
    """Run the checks; nothing is measured or left behind. The ceiling takes seconds: only of what can be measured."""
    monitor = spec.monitor
    with closing(make_client(target, spec.client, secrets, spec.settings, 1024**2)) as client:
        environment = collect(target, ssh=monitor.server_ssh, smb_conf=monitor.smb_conf)
        facts: ClientFacts | None = None
        can_be_measured = True
        try:
            client.connect()
            facts = client.facts()
        except MeasurementError as error:
            yield from _not_connected(target, error)

        if facts is not None:
            yield from _connected(target, facts, client.facts_of_path())
            yield from _share(target, client)
            for checked in _file(target, spec, client, environment):
                can_be_measured = checked.state is not CheckState.FAILED
                yield checked

    yield from _server(environment, _audit_command(target, spec))
    yield _link(target, spec, environment)
    yield _quiet(target, spec.command, environment)
    if facts is not None and can_be_measured:
        yield _ceiling(target, spec, facts, environment, notebook)


def _audit_command(target: Target, spec: SeriesSpec) -> str:
    words = ["sharebench", "audit", format_target(target)]
    if spec.monitor.server_ssh:
        words += ["--server-ssh", spec.monitor.server_ssh]
    if spec.monitor.smb_conf:
        words += ["--smb-conf", spec.monitor.smb_conf]
    return shlex.join(words)


def _not_connected(target: Target, error: MeasurementError) -> Iterator[Checked]:
    if isinstance(error, UnreachableError):
        yield Checked("reach", str(error), CheckState.FAILED)
        return
    yield Checked("reach", f"{target.host} answers on port {target.port}")
    name = "connect"
    if isinstance(error, LoginError):
        name = "log in"
    elif isinstance(error, NoSuchShareError):
        name = "share"
    yield Checked(name, str(error), CheckState.FAILED)


def _connected(target: Target, facts: ClientFacts, path_facts: Mapping[str, str | int | float]) -> Iterator[Checked]:
    protocol = target.abilities
    if protocol.is_local:
        return

    trip = path_facts.get("tcp.least_round_trip_seconds")
    away = f", {milliseconds(trip)} away" if isinstance(trip, int | float) else ""
    yield Checked("reach", f"{target.host} answers on port {target.port}{away}")

    user = target.user or protocol.guest
    became_guest = bool(target.user) and path_facts.get("smb.guest") == "yes"
    words = [f"as {user}"] if protocol.has_login else [f"{protocol.name} has no login"]
    if became_guest:
        words = [f"as guest, not as {user}"]
    if facts.dialect:
        words.append(f"SMB {facts.dialect}")
    if facts.signing:
        words.append("not signed" if facts.signing == "none" else f"signed ({facts.signing})")
    if facts.encryption:
        words.append("not encrypted" if facts.encryption == "none" else f"encrypted ({facts.encryption})")
    if became_guest:
        words[-1] += ": the server does not know the user, or not with this password (Samba: map to guest); check both"
    yield Checked("log in", ", ".join(words), CheckState.ATTENTION if became_guest else CheckState.FINE)

    if path_facts.get("ftp.size") == "no":
        text = "the server has none: no file can be got, and nobody can compare what it stores; look at its log"
        yield Checked("SIZE", text, CheckState.UNKNOWN)


def _share(target: Target, client: Client) -> Iterator[Checked]:
    if not target.abilities.has_share:
        return
    if target.share:
        yield Checked("share", target.share)
        return
    names = client.shares()
    text = f"name one of {', '.join(names)}" if names else "the server lists none; ask its admin for a name"
    yield Checked("share", f"{text}: {format_target(target)}/SHARE/PATH", CheckState.ATTENTION)


def _rate(spec: SeriesSpec, environment: Environment) -> int | None:
    return spec.link_bits_per_second or (environment.link.bits_per_second if environment.link else None)


def _file(target: Target, spec: SeriesSpec, client: Client, environment: Environment) -> Iterator[Checked]:
    if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
        return
    try:
        if spec.command is Command.PUT:
            yield _folder_to_write(target, client)
        else:
            yield _file_to_read(target, client, _file_size_context(spec, environment))
    except MeasurementError as error:
        reason = why_hidden(environment.server, target)
        because = f"; {reason}" if reason and isinstance(error, NoSuchFileError) else ""
        yield Checked("file", f"{error}{because}", CheckState.FAILED)


def _file_size_context(spec: SeriesSpec, environment: Environment) -> FileSizeContext:
    memory = environment.server.get("memory_bytes")
    return FileSizeContext(
        link_bits_per_second=_rate(spec, environment),
        memory_bytes=int(memory) if isinstance(memory, int | float) else None,
    )


def _folder_to_write(target: Target, client: Client) -> Checked:
    path = targets.new_scratch_path(target)
    try:
        client.put(path, Content(1), Meter(RunGate().cancelled))
    except MeasurementError:
        with suppress(MeasurementError):
            client.remove(path)
        raise
    client.remove(path)
    return Checked("folder", f"a file can be written in {format_target(target)} and removed")


def _file_to_read(target: Target, client: Client, context: FileSizeContext) -> Checked:
    name = target.path.rsplit("/", 1)[-1] or "/"
    try:
        size_bytes = client.size(target.path) if target.path.strip("/") else None
    except NotAFileError:
        size_bytes = None
    if size_bytes is None:
        text = f"{name} is {_folder_text(client, target.path)}"
        return Checked(
            "file", f"{text}: name a file to get, or have one made with --make-file --size SIZE", CheckState.ATTENTION
        )

    fit = suitability(size_bytes, context)
    state = CheckState.FINE if fit.word in {FileFit.WELL, FileFit.SHORT, FileFit.UNKNOWN} else CheckState.ATTENTION
    return Checked("file", f"{name}, {binary_size(size_bytes)}. {fit.reason}", state)


def _folder_text(client: Client, path: str) -> str:
    files = [entry.name for entry in client.list(path) if not entry.is_folder]
    text = f"a folder with {wording.count(len(files), 'file')}"
    if not files:
        return text
    first_names = ", ".join(files[:_NAMED_FILES])
    more = ", …" if len(files) > _NAMED_FILES else ""
    return f"{text} ({first_names}{more})"


def _server(environment: Environment, audit: str) -> Iterator[Checked]:
    version = environment.server.get("samba.version")
    if version:
        yield Checked("server", f"Samba {version}")
    harmful = harmful_in({"server": environment.server})
    for finding in harmful:
        text = f"harmful: {finding.setting} = {finding.value}. {finding.why} {finding.what_to_do}"
        yield Checked("settings", text, CheckState.ATTENTION, command=audit)
    if version and not harmful and not environment.problems:
        yield Checked("settings", f"nothing harmful; `{audit}` judges them all")
    for path in str(environment.server.get("smb.conf.writable_by_all", "")).splitlines():
        yield Checked("server", writable_text(path), CheckState.ATTENTION)
    for problem in environment.problems:
        yield Checked("server", problem, CheckState.UNKNOWN, "--server-ssh [USER@]HOST --smb-conf FILE")


def _link(target: Target, spec: SeriesSpec, environment: Environment) -> Checked:
    link = environment.link
    rate = _rate(spec, environment)
    if link is None:
        if target.host:
            return Checked("link", "no way leads there; look at the routes (ip route)", CheckState.UNKNOWN)
        return Checked("link", "a local path needs none")
    if link.loopback:
        as_said = f"; it is held against {link_rate(rate)}, as you said" if rate else ""
        return Checked("link", f"the loopback of this machine, which has no rate{as_said}")

    text = _link_text(environment, link, rate)
    if link.duplex == "half":
        advice = "half duplex halves it; set card and switch to full or auto"
        return Checked("link", f"{text}: {advice}", CheckState.ATTENTION)
    if link.fastest_bits_per_second and rate and rate < link.fastest_bits_per_second:
        best = link_rate(link.fastest_bits_per_second)
        advice = f"the card could do {best}; look at the cable, the switch's port and the card's settings"
        return Checked("link", f"{text}: {advice}", CheckState.ATTENTION)
    if not rate:
        return Checked("link", f"{text}; say it with --link RATE", CheckState.UNKNOWN)
    return Checked("link", text)


def _link_text(environment: Environment, link: Link, rate: int | None) -> str:
    parts = [link.interface, link_rate(rate) if rate else "of unknown rate"]
    if link.duplex:
        parts.append(f"{link.duplex} duplex")
    if link.mtu_bytes:
        parts.append(f"MTU {link.mtu_bytes}")
    ceiling = environment.path.get("link.payload_ceiling_bits_per_second")
    if isinstance(ceiling, int | float):
        parts.append(f"at most {byte_rate(ceiling / 8)} of file content")
    return ", ".join(parts)


def _quiet(target: Target, command: Command, environment: Environment) -> Checked:
    with QuietWatch(target, command, environment.link) as watch:
        quiet = watch.look()
    reasons = "; ".join(quiet.reasons)
    if quiet.verdict is QuietVerdict.BUSY:
        text = f"busy: {reasons}; measure at a quieter time, or wait for one"
        return Checked("quiet time", text, CheckState.ATTENTION, "--wait SECONDS")
    state = CheckState.UNKNOWN if quiet.verdict is QuietVerdict.UNKNOWN else CheckState.FINE
    text = f"{quiet.verdict.value}: {reasons}" if reasons else quiet.verdict.value
    return Checked("quiet time", text, state)


def _ceiling(
    target: Target, spec: SeriesSpec, facts: ClientFacts, environment: Environment, notebook: Notebook
) -> Checked:
    would_be = Series(id="", created_at=utc_now(), target=target, client=facts, command=spec.command)
    calibration = ceiling_of(would_be, notebook)
    ceiling = calibration.bytes_per_second
    if ceiling is None and calibration.busy:
        text = f"not calibrated: busy (others took {calibration.others_cpu_percent:.0f} % of the processors)"
        return Checked("ceiling", f"{text}; check again at a quieter time", CheckState.UNKNOWN)
    if ceiling is None:
        text = f"the own limit of {facts.name} on this machine cannot be calibrated; only sharebench's clients can"
        return Checked("ceiling", text, CheckState.UNKNOWN)

    text = f"this client moves {byte_rate(ceiling)} at most on this machine"
    rate = _rate(spec, environment)
    if rate and rate / 8 > ceiling * CEILING_PERCENT / 100:
        text += f", too near the link's {link_rate(rate)}: measure with another client (--client) as well"
        return Checked("ceiling", text, CheckState.ATTENTION)
    return Checked("ceiling", text)
