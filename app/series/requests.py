"""Build the request of a series, or of equal ones, from the choices of the command line or the TUI."""

from dataclasses import dataclass, replace

from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.base.targets import check_complete, without_password
from app.clients.base import MAX_BLOCK_BYTES, OWN, Secrets, check_client_name
from app.recording.process import FormEntries, MeasurementPlan, SeriesRequest
from storage.json_reader import named, shared
from storage.plan import DEFAULT_SIZE_BYTES, DEFAULT_TREE_FILE_BYTES, MonitorChoices, Plan, RunCounts, Settings
from storage.protocols import Protocol
from storage.records import Command, Experiment, ExperimentKind, Series, Target, dated_experiment, format_target

MOST_MINUTES = 10_000


@dataclass(frozen=True, kw_only=True)
class SeriesOptions(Settings, RunCounts, MonitorChoices, FormEntries):
    """The choices for a series; fields that settings, plan and request share by name are passed on."""

    command: Command = Command.GET
    client: str = ""
    """Empty for the protocol's default client."""
    experiment: str | None = None

    @property
    def settings(self) -> Settings:
        return Settings(**shared(self, Settings))


def series_request(options: SeriesOptions, target: Target, secrets: Secrets) -> SeriesRequest:
    """The request. Raises UsageError if the choices do not fit each other or the target."""
    _check(options, target)
    usual = DEFAULT_TREE_FILE_BYTES if options.files else DEFAULT_SIZE_BYTES
    makes_file = options.command is Command.PUT or options.make_file or not target.abilities.moves_files
    own = {
        "target": target,
        "client": check_client_name(target.protocol, options.client),
        "settings": options.settings,
        "max_runs": max(options.max_runs, options.runs) if options.until_percent is None else options.max_runs,
        "size_bytes": (options.size_bytes or usual) if makes_file else None,
        "secrets": secrets,
    }
    experiment = Experiment(name=options.experiment) if options.experiment else None
    plan = MeasurementPlan(**shared(options, MeasurementPlan) | own)
    return SeriesRequest(plan=plan, **shared(options, SeriesRequest) | {"experiment": experiment})


def options_of(series: Series) -> SeriesOptions:
    plan = series.plan or Plan()
    planned = shared(plan.settings, SeriesOptions) | shared(plan, SeriesOptions)
    return SeriesOptions(**planned, **named(series, "command", "link_bits_per_second", "label", "experiment"))


def parse_change(text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``; the value may be empty. Raises UsageError."""
    name, separator, value = (part.strip() for part in text.partition("="))
    if not separator or not name or "://" in name:
        what = f"not a change: {without_password(text)!r}" if text.strip() else "nothing was typed"
        raise UsageError(f"{what}; write NAME=VALUE, such as 'strict sync=no'")
    return name, value


def _check(options: SeriesOptions, target: Target) -> None:
    protocol, gets = target.abilities, options.command is Command.GET
    check_complete(target, options.command, make_file=options.make_file)
    if options.make_file and not gets:
        raise UsageError("a put makes its file anyway: a file is put first only for a get", options="--make-file")
    if options.size_bytes and gets and not options.make_file and protocol.moves_files:
        text = "a get reads the file as it is: a size belongs to a put, or to a file that is made"
        raise UsageError(text, options="--size, --put, --make-file")
    if options.files:
        _check_tree(options, protocol)
    if options.change_name and not options.experiment:
        raise UsageError("a change belongs to an experiment: name that too", options="--experiment NAME")
    if not protocol.has_dialect and (options.sign or options.encrypt):
        instead = f"; {protocol.label} encrypts as {protocol.encrypted_as}://" if protocol.encrypted_as else ""
        text = f"signing and encryption belong to smb://: leave them out{instead}"
        raise UsageError(text, options="--sign, --encrypt")
    if not protocol.is_local and options.drop_cache:
        text = "the page cache of a server cannot be dropped from here: that belongs to file://"
        raise UsageError(text, options="--drop-cache")
    if options.profile and not protocol.has_dialect:
        raise UsageError("only smbd has a profile: that belongs to smb://", options="leave out --profile")
    if options.verify:
        _check_verify(options, protocol)
    if options.server_ssh:
        check_ssh_host(options.server_ssh)


def _check_tree(options: SeriesOptions, protocol: Protocol) -> None:
    if not protocol.moves_files:
        raise UsageError(f"{protocol.name} moves no files, so there is no tree", options="leave out --files")
    if options.command is Command.GET and not options.make_file:
        raise UsageError("a get of a tree reads one that was made for it", options="--files, --make-file")
    if options.client not in ("", OWN):
        raise UsageError(f"{options.client} moves one file at a time, not a tree", options="leave out --client")
    if options.verify:
        raise UsageError("a tree is not verified: its files are too many", options="leave out --verify")
    if (options.size_bytes or 0) > MAX_BLOCK_BYTES:
        raise UsageError(f"a tree has small files, of at most {MAX_BLOCK_BYTES >> 20}M each", options="--size SIZE")


def _check_verify(options: SeriesOptions, protocol: Protocol) -> None:
    if not protocol.moves_files:
        raise UsageError(f"{protocol.name} moves no file, so there is nothing to verify", options="leave out --verify")
    if options.command is Command.GET and options.client not in ("", OWN):
        text = f"{options.client} lets the bytes that it gets go, so they cannot be verified"
        raise UsageError(text, options="leave out --client")


LABELS = ("self-test, first", "self-test, second")


def equal_requests(request: SeriesRequest, times: int = 0) -> list[SeriesRequest]:
    """Two requests of a self-test, to be measured interleaved; or that number, to be measured one after another."""
    target = request.plan.target
    what, kind = ("Repeats", ExperimentKind.REPEATS) if times else ("Self-test", ExperimentKind.SELFTEST)
    title = f"{what} of {request.plan.command}: {format_target(target)}"
    experiment = dated_experiment(kind, target.host or target.path)
    labels = [f"repeat {number}" for number in range(1, times + 1)] if times else LABELS
    return [replace(request, label=label, title=title, experiment=experiment) for label in labels]
