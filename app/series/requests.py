"""Build the request of a series, or of equal ones, from what was asked of it; and back from the notebook."""

from dataclasses import replace

from app.base import ssh_address
from app.base.errors import UsageError
from app.base.targets import check_complete, without_password
from app.clients import base
from app.clients.registry import check_client_name
from app.recording.spec import (
    OPTION_OF_HOOK,
    FormTexts,
    Hooks,
    Lineage,
    SeriesRequest,
    SeriesSpec,
    check_smb_settings,
)
from app.server.routes import is_this_machine
from forms.findings.path import link_to_give_again
from forms.layout import visible
from storage import plan as plans
from storage import records
from storage.protocols import Protocol


def series_request(spec: SeriesSpec, target: records.Target, secrets: base.Secrets) -> SeriesRequest:
    """The request, with defaults for what the spec leaves open.

    Raises UsageError where the spec contradicts itself, or asks for what the target cannot do.
    """
    _check(spec, target)
    counts = spec.counts
    makes_file = spec.command is records.Command.PUT or counts.make_file or not target.abilities.moves_files
    size_bytes = None
    if makes_file:
        usual_bytes = plans.DEFAULT_TREE_FILE_BYTES if counts.files else plans.DEFAULT_SIZE_BYTES
        size_bytes = counts.size_bytes or usual_bytes

    max_runs = counts.max_runs
    if counts.until_percent is None:
        max_runs = max(max_runs, counts.runs)

    complete_spec = replace(
        spec,
        client=check_client_name(target.protocol, spec.client),
        counts=replace(counts, size_bytes=size_bytes, max_runs=max_runs),
    )
    if counts.random:
        complete_spec = _with_usual_requests(complete_spec)
        _check_block(complete_spec)
    experiment = records.Experiment(name=spec.lineage.experiment) if spec.lineage.experiment else None
    return SeriesRequest(spec=complete_spec, target=target, secrets=secrets, experiment=experiment)


def _with_usual_requests(spec: SeriesSpec) -> SeriesSpec:
    """The spec of random requests with what is usual for them in place of what it leaves open."""
    settings = replace(
        spec.settings,
        block_bytes=spec.settings.block_bytes or plans.DEFAULT_RANDOM_BLOCK_BYTES,
        in_flight=spec.settings.in_flight or plans.DEFAULT_RANDOM_IN_FLIGHT,
    )
    counts = replace(spec.counts, random_seconds=spec.counts.random_seconds or plans.DEFAULT_RANDOM_SECONDS)
    return replace(spec, settings=settings, counts=counts)


def spec_of(series: records.Series) -> SeriesSpec:
    """What was asked of a stored series, to ask it again: without base, change, note and question."""
    plan = series.plan or plans.Plan()
    return SeriesSpec(
        command=series.command,
        client=plan.client,
        counts=plan.counts,
        settings=replace(plan.settings, flush=series.flushed),
        monitor=plan.monitor,
        texts=FormTexts(label=series.label),
        lineage=Lineage(experiment=series.experiment),
        link_bits_per_second=link_to_give_again(series),
    )


def parse_change(text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``; the value may be empty. Raises UsageError."""
    name, separator, value = (part.strip() for part in text.partition("="))
    if not separator or not name or "://" in name:
        problem = f"not a change: {without_password(text)!r}" if text.strip() else "nothing was typed"
        raise UsageError(f"{problem}; write NAME=VALUE, such as 'strict sync=no'")
    return name, value


def _check(spec: SeriesSpec, target: records.Target) -> None:
    protocol = target.abilities
    counts = spec.counts
    gets = spec.command is records.Command.GET
    check_complete(target, spec.command, make_file=counts.make_file)

    if counts.make_file and not gets:
        raise UsageError("a put makes its file anyway: a file is put first only for a get", options="--make-file")
    if counts.size_bytes and gets and not counts.make_file and protocol.moves_files:
        text = "a get reads the file as it is: have a file of that size made and read, or put one"
        raise UsageError(text, options="add --make-file or --put")
    if counts.files:
        _check_tree(spec, protocol)
    if spec.lineage.change_name and not spec.lineage.experiment:
        raise UsageError("a change belongs to an experiment: name that too", options="--experiment NAME")

    _check_smb(spec, protocol)
    if not protocol.is_local and spec.settings.drop_cache:
        text = "the page cache of a server cannot be dropped from here: that belongs to file://"
        raise UsageError(text, options="--drop-cache")
    _check_random(spec, protocol)
    if spec.settings.flush:
        _check_flush(spec, protocol)
    if counts.verify:
        _check_verify(spec, protocol)
    check_machines(spec, target)


def check_machines(spec: SeriesSpec, target: records.Target) -> None:
    """The names of the server and of the machine that measures, as ssh has them."""
    if spec.monitor.server_ssh:
        ssh_address.check_ssh_host(spec.monitor.server_ssh)
    elif spec.hooks.server_prepare and not (target.abilities.is_local or is_this_machine(target.host)):
        text = f"the way to {target.host} is not known: say by which ssh host the command is run there"
        raise UsageError(text, options="--server-prepare, --server-ssh [USER@]HOST")
    if spec.monitor.from_host is None:
        return

    ssh_address.check_ssh_host(spec.monitor.from_host, ssh_address.FROM_OPTION)
    if spec.counts.profile or spec.hooks.server_prepare:
        text = "the machine that measures would log in to the server by ssh, to which it has no known way"
        raise UsageError(text, options="leave out --profile and --server-prepare, or --from")


def check_hooks_typed_again(series: records.Series, hooks: Hooks) -> None:
    """Raises UsageError where the runs to come would not have the commands around them that those before had."""
    path_facts = series.environment.get("path", {})
    typed = hooks.facts
    for fact, option in OPTION_OF_HOOK.items():
        stored_command = path_facts.get(fact, "")
        if stored_command == typed.get(fact, ""):
            continue
        if not stored_command:
            raise UsageError(f"the runs of series {series.id} had no such command around them: leave {option} out")
        command = visible(str(stored_command))
        raise UsageError(f"a stored command is never run: to continue, type it again, as {option} {command!r}")


def _check_tree(spec: SeriesSpec, protocol: Protocol) -> None:
    if not protocol.moves_files:
        raise UsageError(f"{protocol.name} moves no files, so there is no tree", options="leave out --files")
    if spec.command is records.Command.GET and not spec.counts.make_file:
        raise UsageError("a get of a tree reads one that was made for it", options="--files, --make-file")
    if spec.client not in ("", base.OWN):
        raise UsageError(f"{spec.client} moves one file at a time, not a tree", options="leave out --client")
    if spec.counts.verify:
        raise UsageError("a tree is not verified: its files are too many", options="leave out --verify")
    if (spec.counts.size_bytes or 0) > base.MAX_BLOCK_BYTES:
        raise UsageError(
            f"a tree has small files, of at most {base.MAX_BLOCK_BYTES >> 20}M each", options="--size SIZE"
        )


def _check_smb(spec: SeriesSpec, protocol: Protocol) -> None:
    """What other protocols do not have, and what only our own client can do."""
    settings = spec.settings
    check_smb_settings(settings, protocol)
    if not protocol.has_dialect and spec.counts.profile:
        raise UsageError("only smbd has a profile: that belongs to smb://", options="leave out --profile")
    if settings.like and spec.client not in ("", base.OWN):
        text = f"{spec.client} is a client itself: only sharebench's own imitates others"
        raise UsageError(text, options="leave out --like or --client")


def _check_random(spec: SeriesSpec, protocol: Protocol) -> None:
    counts = spec.counts
    if not counts.random:
        if counts.read_percent is not None or counts.random_seconds is not None:
            text = "a mix and a time belong to random requests: ask for these"
            raise UsageError(text, options="--random, or leave out --mix and --seconds")
        return

    if not protocol.can_ask_at_random:
        text = f"{protocol.label} has no requests at random places of a file: that belongs to smb:// and file://"
        raise UsageError(text, options="leave out --random")
    if spec.client not in ("", base.OWN):
        text = f"{spec.client} moves whole files: only sharebench's own client makes random requests"
        raise UsageError(text, options="leave out --client")
    if counts.files:
        raise UsageError("random requests go to one file, not to a tree", options="leave out --files or --random")
    if counts.verify:
        text = "random requests are not verified: they move parts of a file, in no order"
        raise UsageError(text, options="leave out --verify")
    if counts.read_percent is not None and spec.command is records.Command.GET:
        raise UsageError("a mix writes, as a put does, to a file that is made in a folder", options="--put")


def _check_block(spec: SeriesSpec) -> None:
    """Raises UsageError for blocks that are larger than the file to make, or than any client moves."""
    block_bytes = spec.settings.block_bytes or 0
    size_bytes = spec.counts.size_bytes
    if block_bytes > base.MAX_BLOCK_BYTES:
        raise UsageError(f"a request moves at most {base.MAX_BLOCK_BYTES >> 20}M", options="--block SIZE")
    if size_bytes and size_bytes < block_bytes:
        text = f"a file of {size_bytes} bytes has no whole block of {block_bytes}"
        raise UsageError(text, options="--size SIZE, --block SIZE")


def _check_flush(spec: SeriesSpec, protocol: Protocol) -> None:
    if spec.command is records.Command.GET:
        raise UsageError("a get writes nothing that could be flushed: that belongs to a put", options="--flush, --put")
    if not protocol.can_flush:
        text = f"{protocol.label} has no request that flushes a file: that belongs to smb:// and file://"
        raise UsageError(text, options="leave out --flush")
    if spec.client not in ("", base.OWN):
        text = f"{spec.client} cannot flush a file: only sharebench's own client does"
        raise UsageError(text, options="leave out --flush or --client")


def _check_verify(spec: SeriesSpec, protocol: Protocol) -> None:
    if not protocol.moves_files:
        raise UsageError(f"{protocol.name} moves no file, so there is nothing to verify", options="leave out --verify")
    if spec.command is records.Command.GET and spec.client not in ("", base.OWN):
        text = f"{spec.client} lets the bytes that it gets go, so they cannot be verified"
        raise UsageError(text, options="leave out --client")


LABELS = ("self-test, first", "self-test, second")
"""Of the two series of a self-test."""


def equal_requests(request: SeriesRequest, times: int = 0) -> list[SeriesRequest]:
    """The two requests of a self-test, to be measured interleaved; or ``times`` repeats, one after another."""
    target = request.target
    name = "Self-test"
    kind = records.ExperimentKind.SELFTEST
    labels: tuple[str, ...] = LABELS
    if times:
        name = "Repeats"
        kind = records.ExperimentKind.REPEATS
        labels = tuple(f"repeat {number}" for number in range(1, times + 1))

    title = f"{name} of {request.spec.command}: {records.format_target(target)}"
    experiment = records.dated_experiment(kind, target.host or target.path)
    return [
        replace(request, spec=with_label(request.spec, label), title=title, experiment=experiment) for label in labels
    ]


def with_label(spec: SeriesSpec, label: str) -> SeriesSpec:
    return replace(spec, texts=replace(spec.texts, label=label))
