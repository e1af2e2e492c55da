"""What the guide knows besides the user's choices, read from the notebook, and what it writes into it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.base.units import parse_rate
from app.comparison import sides as comparison_sides
from app.comparison.trials import trials_since
from app.method import choices as method_choices
from app.method import one_change, rounds
from app.method import proof as method_proof
from app.series.prospect import measured_rate
from storage import records
from storage.notebook import Notebook

if TYPE_CHECKING:
    from app.backend import Backend
    from app.clients.browsing import Item
    from forms.comparison.judged_sides import Sides
    from forms.findings.finding import Finding
    from forms.series.file_size import FileSizeContext
    from forms.trial.summary import TrialSummary

_LOOKED_THROUGH = 300
"""The newest series, among which yardsticks and changes of the client are looked for."""
_RECENT = 8
_MOST_TRIED = 3
_server_of = attrgetter("protocol", "host", "port")
_login_of = attrgetter("protocol", "host", "user")
_place_of = attrgetter("protocol", "host", "port", "share", "user")

Targets = Callable[[Notebook], Iterable[records.Target]]
"""The targets of a notebook's recordings, with what to offer first at the front."""


def with_picked(
    choices: method_choices.GuideChoices, target: records.Target, file: "Item | None", *, kerberos: bool = False
) -> method_choices.GuideChoices:
    """The choices with what was picked on a server: its folder, or a file in it."""
    choices = with_profile(method_choices.with_target(choices, target, kerberos=kerberos))
    if file is None:
        choices = replace(choices, file=None, file_bytes=None)
    else:
        choices = method_choices.with_file(choices, target.path, file.path, file.size_bytes)
    return replace(choices, step=method_choices.MethodStep.FILE)


def with_profile(choices: method_choices.GuideChoices) -> method_choices.GuideChoices:
    """The choices with what the settings file says of their server and they do not say themselves."""
    from app.server.named_servers import server_of, server_ways

    target = choices.target
    profile = server_of(target) if target is not None else None
    if target is None or profile is None:
        return choices

    link = None
    with suppress(UsageError):
        link = parse_rate(profile.link) if profile.link else None
    spec = choices.spec
    ways = server_ways(target, spec.monitor.server_ssh or "", spec.monitor.smb_conf or "")
    monitor = replace(spec.monitor, server_ssh=ways.server_ssh, smb_conf=ways.smb_conf)
    link_bits_per_second = spec.link_bits_per_second or link
    return replace(choices, spec=replace(spec, monitor=monitor, link_bits_per_second=link_bits_per_second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """A series that the one of this round is compared with."""

    name: str
    """What it is: ``the base``, ``baseline NAME``, ``FTP``."""
    series: records.Series
    sides: "Sides | None" = None
    """The comparison with it, with all repeats that the notebook knows; None for just the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    bits_per_second: int | None = None
    """None where it is not known."""
    source: str = ""
    """Where the rate is from, or why there is none."""
    memory_bytes: int | None = None


def link_to(target: records.Target, backend: "Backend") -> LinkState:
    """What the backend says of the way there; takes a while."""
    rate, source = backend.link(target)
    return LinkState(bits_per_second=rate, source=source, memory_bytes=backend.memory_bytes(target))


def _no_targets(_notebook: Notebook) -> Iterable[records.Target]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideContext:
    """Facts for the pages; everything may be missing."""

    practice: tuple[records.Target, ...] = ()
    """The practice servers that run on this machine."""
    servers: tuple[tuple[str, records.Target], ...] = ()
    """Those of the settings file, each with its name."""
    targets: Targets = _no_targets
    recent: tuple[records.Target, ...] = ()
    """The targets that were measured last, each server and share once."""
    series: records.Series | None = None
    """The series of this round, once there is one."""
    base: records.Series | None = None
    """What the next series is made from, or is to repeat."""
    kept_as: tuple[str, ...] = ()
    """The names of the series as a baseline."""
    yardsticks: tuple[Yardstick, ...] = ()
    proof: "Sides | None" = None
    """The change of this round, or the one that is being proven, against its base, each with its repeats."""
    settled: "Sides | None" = None
    """What tells most of it: the two whose runs were interleaved, where there are such."""
    trials: "tuple[TrialSummary, ...]" = ()
    """At the last step: what was tried since the series was measured, the newest first."""
    measured_changes: "tuple[tuple[records.Change, Sides], ...]" = ()
    """At the last step: the changes of the client that were measured from this series, the newest first."""
    findings: "tuple[Finding, ...]" = ()
    measured_bytes_per_second: float | None = None
    link: LinkState = field(default_factory=LinkState)
    quiet: records.Quiet | None = None
    left: tuple[str, ...] = ()
    """What interrupted trials left changed, and where."""


def towards(
    target: records.Target, choices: method_choices.GuideChoices, context: GuideContext
) -> tuple[method_choices.GuideChoices, GuideContext]:
    """The choices with that target, and what is known of it: the rate and the link of another server say nothing."""
    if choices.target is None or _server_of(choices.target) != _server_of(target):
        context = replace(context, link=LinkState(), measured_bytes_per_second=None)
    return method_choices.with_target(choices, target), context


def file_size_context(choices: method_choices.GuideChoices, context: GuideContext) -> "FileSizeContext":
    """What there is to judge a file by: the link as the user or the interface says it, memory, earlier results."""
    from forms.series.file_size import FileSizeContext

    return FileSizeContext(
        link_bits_per_second=choices.spec.link_bits_per_second or context.link.bits_per_second,
        measured_bytes_per_second=context.measured_bytes_per_second,
        memory_bytes=context.link.memory_bytes,
    )


def read_context(notebook: Notebook, choices: method_choices.GuideChoices, before: GuideContext) -> GuideContext:
    """What the notebook knows for these choices; what it does not know stays as it was ``before``."""
    spec = choices.spec
    series = rounds.series_of_round(notebook, choices)
    proof = method_proof.proof_of_round(notebook, choices)

    context = replace(
        before,
        recent=recent_targets(before.targets(notebook), before.practice),
        series=series,
        base=method_proof.series_called(notebook, spec.lineage.base_id),
        kept_as=tuple(baseline.name for baseline in notebook.baselines() if baseline.recording_id == choices.series_id),
        yardsticks=(),
        proof=proof,
        settled=_interleaved_sides(notebook, proof),
        trials=(),
        measured_changes=(),
        findings=(),
        measured_bytes_per_second=measured_rate(notebook, choices.target, spec.command, spec.settings.block_bytes),
        left=tuple(entry.left for entry in notebook.left_behind()),
    )
    return context if series is None else _with_results(notebook, choices, context, series)


def _interleaved_sides(notebook: Notebook, proof: "Sides | None") -> "Sides | None":
    if proof is None:
        return None
    return comparison_sides.sides_to_compare(notebook, (proof.base[0].id, proof.other[0].id), turns=True)[0]


def _with_results(
    notebook: Notebook, choices: method_choices.GuideChoices, context: GuideContext, series: records.Series
) -> GuideContext:
    """The context with what the series of this round can be compared with, and what was found by that."""
    from forms.comparison.rules import findings

    heads = notebook.heads(limit=_LOOKED_THROUGH)
    base_id = choices.spec.lineage.base_id
    yardsticks = []
    for yardstick in _yardsticks(notebook, choices, series, heads):
        turns = True if yardstick.series.id == base_id else None
        sides = comparison_sides.sides_to_compare(notebook, (yardstick.series.id, series.id), turns=turns)[0]
        yardsticks.append(replace(yardstick, sides=sides))

    proof_bases = {base.id for base in context.proof.base} if context.proof else set[str]()
    others = [yardstick.series for yardstick in yardsticks if yardstick.series.id not in proof_bases]
    context = replace(context, yardsticks=tuple(yardsticks), findings=tuple(findings([series, *others])))
    if choices.step is not method_choices.MethodStep.CHANGE:
        return context
    return replace(
        context,
        trials=tuple(islice(trials_since(notebook, series.created_at, [series]), _MOST_TRIED)),
        measured_changes=tuple(_changes_made_from(notebook, series, heads)),
    )


def recent_targets(targets: Iterable[records.Target], practice: Sequence[records.Target]) -> tuple[records.Target, ...]:
    """The first of them, each server and share once, without those of practice servers that are gone."""
    by_place: dict[tuple[object, ...], records.Target] = {}
    # At each start the practice servers have another port.
    practice_logins = {_login_of(target) for target in practice}
    for target in targets:
        if _login_of(target) not in practice_logins:
            by_place.setdefault(_place_of(target), target)
    return tuple(by_place.values())[:_RECENT]


def _changes_made_from(
    notebook: Notebook, series: records.Series, heads: Sequence[records.Series]
) -> Iterator["tuple[records.Change, Sides]"]:
    """What was measured of each change of the client whose base has the settings of this series, the newest first."""
    own_heads = [head for head in heads if head.change and head.base_id and head.change.name in one_change.OWN_CHANGES]
    heads_there = [head for head in own_heads if _place_of(head.target) == _place_of(series.target)]
    listed_changes = set[tuple[str, str]]()
    for head in heads_there[:_RECENT]:
        proof = method_proof.proof_of(notebook, head.id)
        change = proof.other[0].change if proof else None
        if not proof or not change or not proof.other[0].measured() or (change.name, change.value) in listed_changes:
            continue

        (sides,) = comparison_sides.sides_to_compare(notebook, (proof.base[0].id, head.id), turns=True)
        if series.id in {base.id for base in (*proof.base, *sides.base)}:
            listed_changes.add((change.name, change.value))
            yield change, sides


def _run_sizes(series: records.Series) -> set[int | None]:
    return {run.size_bytes for run in series.measured()}


def _yardsticks(
    notebook: Notebook, choices: method_choices.GuideChoices, series: records.Series, heads: Sequence[records.Series]
) -> Iterator[Yardstick]:
    """The base, the baselines of such a file, and the newest series by another protocol, each once."""
    used_ids = {series.id}
    base = method_proof.series_called(notebook, choices.spec.lineage.base_id)
    if base is not None and base.id not in used_ids:
        used_ids.add(base.id)
        is_repeat = series.change is None and choices.proven_id is None
        yield Yardstick(name="the series before" if is_repeat else "the base", series=base)

    for baseline in notebook.baselines():
        baseline_series = method_proof.series_called(notebook, baseline.recording_id)
        if baseline_series is None or baseline_series.id == series.id:
            continue
        is_same_transfer = baseline_series.command is series.command
        if is_same_transfer and _run_sizes(baseline_series) == _run_sizes(series):
            used_ids.add(baseline_series.id)
            yield Yardstick(name=f"baseline {baseline.name}", series=baseline_series)

    for head in heads:
        has_other_protocol = head.target.protocol != series.target.protocol
        is_same_transfer = head.command is series.command and head.flushed == series.flushed
        is_alike = head.target.host == series.target.host and is_same_transfer
        is_usable = head.id not in used_ids and head.status is records.SeriesStatus.COMPLETE
        if has_other_protocol and is_alike and is_usable:
            other = method_proof.series_called(notebook, head.id)
            if other and other.measured():
                yield Yardstick(name=head.target.protocol.upper(), series=other)
                return


def recall(
    notebook: Notebook, practice: Sequence[records.Target], targets: Targets = _no_targets
) -> tuple[method_choices.GuideChoices, GuideContext]:
    """The choices as they were left, but fresh ones where practice servers are ready, and what is known for them."""
    from app.server.named_servers import named_servers

    choices = rounds.recall_choices(notebook, practice)
    before = GuideContext(practice=tuple(practice), servers=named_servers(), targets=targets)
    return choices, read_context(notebook, choices, before)


def keep(notebook: Notebook, choices: method_choices.GuideChoices, before: GuideContext) -> GuideContext:
    """Remember the choices; returns what is known for them."""
    rounds.remember(notebook, choices)
    return read_context(notebook, choices, before)


def judge(
    notebook: Notebook, series_id: str, number: int, status: records.RunStatus, reason: str | None
) -> Callable[[Notebook], None]:
    """Mark a run; returns what marks it as it was before. Raises UnknownReferenceError."""
    runs = notebook.series(series_id).runs
    before = next(run for run in runs if run.phase is records.Phase.MEASURED and run.number == number)
    notebook.judge_run(series_id, number, status, reason)
    return methodcaller("judge_run", series_id, number, before.status, before.reason)


def begin_round(notebook: Notebook, choices: method_choices.GuideChoices) -> None:
    """Make the base of the new round the experiment's first series, where it belongs to none yet."""
    lineage = choices.spec.lineage
    if lineage.base_id is None:
        return
    base = notebook.series(lineage.base_id)
    if base.experiment is None:
        notebook.annotate(replace(base, experiment=lineage.experiment))
