"""What the guide knows besides the user's choices and writes into the notebook, and which steps are done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.base.config import ConfigError, ServerProfile, config
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.base.units import parse_rate
from app.comparison.history import sides_to_compare, trials_since
from app.guide import choices as acts
from app.guide.choices import MEMORY_KEY, STEPS, WORDS, GuideChoices, MethodStep, with_file, with_target
from app.series.prospect import reached
from forms import wording
from storage.notebook import Notebook
from storage.records import (
    Change,
    Command,
    Decision,
    Phase,
    Quiet,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
    format_target,
)

if TYPE_CHECKING:
    from app.guide.backend import Backend
    from app.guide.browsing import Item
    from forms.comparison.verdict import Sides
    from forms.findings.finding import Finding
    from forms.series.file_size import FileSizeContext
    from forms.trial.summary import TrialSummary


def _profiles() -> Iterable[tuple[str, Target, ServerProfile]]:
    """Those that cannot be read are told when they are named, and a bad settings file when the program starts."""
    with suppress(ConfigError):
        for name, server in config().servers.items():
            with suppress(UsageError):
                yield name, parse_target(server.url()), server


def named_servers() -> tuple[tuple[str, Target], ...]:
    return tuple((f"@{name}", target) for name, target, _ in _profiles())


def server_of(target: Target) -> ServerProfile | None:
    return next((server for _, named, server in _profiles() if _named_place(named) == _named_place(target)), None)


def server_ways(target: Target, ssh: str, smb_conf: str = "") -> dict[str, Any]:
    """By which ssh and smb.conf the server is reached: as said, else as the settings file says. Raises UsageError."""
    from app.server.link_facts import is_this_machine  # noqa: PLC0415  loaded when it is first needed

    server = server_of(target)
    ssh = ssh or (server.ssh if server else "")
    if smb_conf and not ssh and is_this_machine(target.host) and not Path(smb_conf).is_file():
        raise UsageError(f"cannot read {smb_conf}: it is not on this machine; name an smb.conf")
    return {"server_ssh": ssh or None, "smb_conf": smb_conf or (server.smb_conf if server else "") or None}


def ways_to(host: str) -> str:
    """Under which name the notebook keeps how that server is reached, for every form."""
    return f"ways to {host.lower()}"


def with_picked(choices: GuideChoices, target: Target, file: "Item | None", *, kerberos: bool = False) -> GuideChoices:
    choices = with_profile(with_target(choices, target, kerberos=kerberos))
    if file is None:
        choices = replace(choices, file=None, file_bytes=None)
    else:
        choices = with_file(choices, target.path, file.path, file.size_bytes)
    return replace(choices, step=MethodStep.FILE)


def with_profile(choices: GuideChoices) -> GuideChoices:
    """The choices with what the settings file says of their server and they do not say themselves."""
    target = choices.target
    server = server_of(target) if target is not None else None
    if target is None or server is None:
        return choices
    link = None
    with suppress(UsageError):
        link = parse_rate(server.link) if server.link else None
    ways = server_ways(target, choices.spec.monitor.server_ssh or "", choices.spec.monitor.smb_conf or "")
    spec = replace(
        choices.spec,
        monitor=replace(choices.spec.monitor, server_ssh=ways["server_ssh"], smb_conf=ways["smb_conf"]),
        link_bits_per_second=choices.spec.link_bits_per_second or link,
    )
    return replace(choices, spec=spec)


def _named_place(target: Target) -> tuple[object, ...]:
    return (target.protocol, target.host.lower(), target.port, target.share)


_LOOKED_THROUGH = 300
_RECENT = 8
_MOST_TRIED = 3
_server_of = attrgetter("protocol", "host", "port")
_login_of = attrgetter("protocol", "host", "user")
_place_of = attrgetter("protocol", "host", "port", "share", "user")
Targets = Callable[[Notebook], Iterable[Target]]
"""The targets of a notebook's recordings, with what to offer first at the front."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    name: str
    """What it is: ``the base``, ``baseline NAME``, ``FTP``."""
    series: Series
    sides: "Sides | None" = None
    """The comparison with it, with all repeats that the notebook knows; None for just the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    bits_per_second: int | None = None
    why: str = ""
    memory_bytes: int | None = None


def link_to(target: Target, backend: "Backend") -> LinkState:
    """What the backend says of the way there; takes a while."""
    rate, why = backend.link(target)
    return LinkState(bits_per_second=rate, why=why, memory_bytes=backend.memory_bytes(target))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideContext:
    """Facts for the pages; everything may be missing."""

    practice: tuple[Target, ...] = ()
    servers: tuple[tuple[str, Target], ...] = ()
    targets: Targets = lambda _notebook: ()
    recent: tuple[Target, ...] = ()
    series: Series | None = None
    base: Series | None = None
    """What the next series is made from, or is to repeat."""
    kept_as: tuple[str, ...] = ()
    """The names of the series as a baseline."""
    yardsticks: tuple[Yardstick, ...] = ()
    proof: "Sides | None" = None
    """The change of this round, or the one that is being proven, against its base, each with its repeats."""
    settled: "Sides | None" = None
    """What tells most of it: the two whose runs were interleaved, where there are such."""
    tried: "tuple[TrialSummary, ...]" = ()
    """At the last step: what was tried since the series was measured, the newest first."""
    made: "tuple[tuple[Change, Sides], ...]" = ()
    """At the last step: the changes of the client that were measured from this series, the newest first."""
    findings: "tuple[Finding, ...]" = ()
    measured_bytes_per_second: float | None = None
    link: LinkState = field(default_factory=LinkState)
    quiet: Quiet | None = None
    left: tuple[str, ...] = ()
    """What interrupted trials left changed, and where."""


def towards(target: Target, choices: GuideChoices, known: GuideContext) -> tuple[GuideChoices, GuideContext]:
    """The choices with that target, and what is known of it: the rate and the link of another server say nothing."""
    if choices.target is None or _server_of(choices.target) != _server_of(target):
        known = replace(known, link=LinkState(), measured_bytes_per_second=None)
    return with_target(choices, target), known


def around(choices: GuideChoices, known: GuideContext) -> "FileSizeContext":
    """What there is to judge a file by: the link as the user or the interface says it, memory, earlier results."""
    from forms.series.file_size import FileSizeContext  # noqa: PLC0415  what computes is loaded when it is first needed

    return FileSizeContext(
        link_bits_per_second=choices.spec.link_bits_per_second or known.link.bits_per_second,
        measured_bytes_per_second=known.measured_bytes_per_second,
        memory_bytes=known.link.memory_bytes,
    )


def read_known(notebook: Notebook, choices: GuideChoices, before: GuideContext) -> GuideContext:
    """What the notebook knows for these choices; what it does not know stays as it was ``before``."""
    from forms.comparison.rules import findings  # noqa: PLC0415  what computes is loaded when it is first needed

    heads, of = notebook.heads(limit=_LOOKED_THROUGH), partial(sides_to_compare, notebook)
    series = _series(notebook, choices.series_id)
    proof = proof_of(notebook, choices.proven_id or choices.series_id)
    yardsticks = tuple(
        replace(
            stick,
            sides=of((stick.series.id, series.id), turns=stick.series.id == choices.spec.lineage.base_id or None)[0],
        )
        for stick in (_yardsticks(notebook, choices, series, heads) if series else ())
        if series
    )
    at_change = series is not None and choices.step is MethodStep.CHANGE
    judged = {one.id for one in proof.base} if proof else set[str]()
    return replace(
        before,
        recent=recent_targets(before.targets(notebook), before.practice),
        series=series,
        base=_series(notebook, choices.spec.lineage.base_id),
        kept_as=tuple(one.name for one in notebook.baselines() if one.recording_id == choices.series_id),
        yardsticks=yardsticks,
        proof=proof,
        settled=of((proof.base[0].id, proof.other[0].id), turns=True)[0] if proof else None,
        tried=tuple(islice(trials_since(notebook, series.created_at, [series]), _MOST_TRIED))
        if series and at_change
        else (),
        made=tuple(_made_from(notebook, series, heads)) if series and at_change else (),
        findings=tuple(findings([series, *(y.series for y in yardsticks if y.series.id not in judged)]))
        if series
        else (),
        measured_bytes_per_second=reached(
            notebook, choices.target, choices.spec.command, choices.spec.settings.block_bytes
        ),
        left=tuple(entry.left for entry in notebook.left_behind()),
    )


def recent_targets(targets: Iterable[Target], practice: Sequence[Target]) -> tuple[Target, ...]:
    """The first of them, each server and share once, without those of practice servers that are gone."""
    found: dict[tuple[object, ...], Target] = {}
    practised = {_login_of(target) for target in practice}  # at each start they have another port
    for target in targets:
        if _login_of(target) not in practised:
            found.setdefault(_place_of(target), target)
    return tuple(found.values())[:_RECENT]


def _series(notebook: Notebook, series_id: str | None) -> Series | None:
    return next(iter(notebook.all_of([series_id] if series_id else [])), None)


def proof_of(notebook: Notebook, changed_id: str | None) -> "Sides | None":
    """What was measured of the change that this series was made with; None where it was made with none."""
    changed = _series(notebook, changed_id)
    base = _series(notebook, changed.base_id) if changed and changed.change else None
    return sides_to_compare(notebook, (base.id, changed.id), turns=False)[0] if base and changed else None


def _made_from(notebook: Notebook, series: Series, heads: Sequence[Series]) -> Iterator["tuple[Change, Sides]"]:
    """What was measured of each change of the client whose base has the settings of this series, the newest first."""
    own = [head for head in heads if head.change and head.base_id and head.change.name in acts.OWN_CHANGES]
    seen = set[tuple[str, str]]()
    for head in [head for head in own if _place_of(head.target) == _place_of(series.target)][:_RECENT]:
        proof = proof_of(notebook, head.id)
        change = proof.other[0].change if proof else None
        if not proof or not change or not proof.other[0].measured() or (change.name, change.value) in seen:
            continue
        (told,) = sides_to_compare(notebook, (proof.base[0].id, head.id), turns=True)
        if series.id in {one.id for one in (*proof.base, *told.base)}:
            seen.add((change.name, change.value))
            yield change, told


def _sizes(series: Series) -> set[int | None]:
    return {run.size_bytes for run in series.measured()}


def _yardsticks(
    notebook: Notebook, choices: GuideChoices, series: Series, heads: Sequence[Series]
) -> Iterable[Yardstick]:
    seen = {series.id}
    base = _series(notebook, choices.spec.lineage.base_id)
    if base is not None and base.id not in seen:
        seen.add(base.id)
        is_again = series.change is None and choices.proven_id is None
        yield Yardstick(name="the series before" if is_again else "the base", series=base)
    for baseline in notebook.baselines():
        found = _series(notebook, baseline.recording_id)
        alike = found is not None and found.command is series.command and _sizes(found) == _sizes(series)
        if found and alike and found.id != series.id:
            seen.add(found.id)
            yield Yardstick(name=f"baseline {baseline.name}", series=found)
    for head in heads:
        other = head.target.protocol != series.target.protocol
        alike = head.target.host == series.target.host and head.command is series.command
        if (
            other
            and alike
            and head.flushed == series.flushed
            and head.id not in seen
            and head.status is SeriesStatus.COMPLETE
        ):
            full = _series(notebook, head.id)
            if full and full.measured():
                yield Yardstick(name=head.target.protocol.upper(), series=full)
                return


def recall(notebook: Notebook, practice: Sequence[Target], **more: Any) -> tuple[GuideChoices, GuideContext]:
    """The choices as they were left, but fresh ones where practice servers are ready, and what is known for them."""
    before = GuideContext(practice=tuple(practice), servers=named_servers(), **more)
    choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    ready = {_server(target) for target in practice}
    if ready and (choices.target is None or _server(choices.target) not in ready):
        choices = GuideChoices()
    known = read_known(notebook, choices, before)
    if choices.series_id is not None and known.series is None:
        choices = replace(choices, series_id=None, reviewed=False, compared=False, step=MethodStep.RUN)
    return choices, known


def _server(target: Target) -> str:
    return format_target(replace(target, share=None, path="/"))


def keep(notebook: Notebook, choices: GuideChoices, before: GuideContext) -> GuideContext:
    notebook.remember(MEMORY_KEY, choices.to_memory())
    return read_known(notebook, choices, before)


def judge(
    notebook: Notebook, series_id: str, number: int, status: RunStatus, reason: str | None
) -> Callable[[Notebook], None]:
    """Mark a run; returns what marks it as it was before. Raises UnknownReferenceError."""
    runs = notebook.series(series_id).runs
    before = next(run for run in runs if run.phase is Phase.MEASURED and run.number == number)
    notebook.judge_run(series_id, number, status, reason)
    return lambda notebook: notebook.judge_run(series_id, number, before.status, before.reason)


def decide(notebook: Notebook, series_id: str, decision: Decision | None) -> None:
    """Note what became of a change, or that it is open again. Raises UnknownReferenceError."""
    notebook.annotate(replace(notebook.series(series_id), decision=decision))


def begin_round(notebook: Notebook, choices: GuideChoices) -> None:
    """Make the base of the new round the experiment's first series, where it belongs to none yet."""
    if choices.spec.lineage.base_id is None:
        return
    base = notebook.series(choices.spec.lineage.base_id)
    if base.experiment is None:
        notebook.annotate(replace(base, experiment=choices.spec.lineage.experiment))


TITLES = {step: WORDS[step]["name"] for step in STEPS}


class StepState(StrEnum):
    DONE = "done"
    CURRENT = "current"
    OPEN = "open"
    BLOCKED = "blocked"

    @property
    def sign(self) -> str:
        return {"done": "✓", "current": "▶", "open": "·", "blocked": "-"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatus:
    step: MethodStep
    number: int
    title: str
    state: StepState
    detail: str


def standings(choices: GuideChoices, known: GuideContext) -> list[StepStatus]:
    return [
        StepStatus(
            step=step,
            number=number,
            title=TITLES[step],
            state=_state(choices, known, step),
            detail=blocked(choices, known, step) or _chosen(choices, known, step),
        )
        for number, step in enumerate(STEPS, 1)
    ]


def blocked(choices: GuideChoices, known: GuideContext, step: MethodStep) -> str | None:
    if step is not MethodStep.TARGET and choices.target is None:
        return "needs a target"
    if step in {MethodStep.QUIET, MethodStep.WARM_UP, MethodStep.RUN} and choices.run_bytes is None:
        return "needs a file"
    series = known.series
    if step in {MethodStep.REVIEW, MethodStep.EXPECTED, MethodStep.CHANGE} and not (series and series.runs):
        return "needs a run"
    if step in {MethodStep.EXPECTED, MethodStep.CHANGE} and series is not None and not series.measured():
        return "needs a valid run"
    return None


def done(choices: GuideChoices, known: GuideContext, step: MethodStep) -> bool:
    return {
        MethodStep.TARGET: choices.target is not None,
        MethodStep.FILE: choices.run_bytes is not None,
        MethodStep.QUIET: choices.quiet is not None,
        MethodStep.WARM_UP: choices.counted,
        MethodStep.RUN: known.series is not None and known.series.status is SeriesStatus.COMPLETE,
        MethodStep.REVIEW: choices.reviewed,
        MethodStep.EXPECTED: choices.compared,
        MethodStep.CHANGE: False,
    }[step]


def next_step(choices: GuideChoices, known: GuideContext, after: MethodStep) -> MethodStep:
    later = STEPS[STEPS.index(after) + 1 :]
    ready = (step for step in later if not done(choices, known, step) and not blocked(choices, known, step))
    return next(ready, later[0] if later else after)


def _state(choices: GuideChoices, known: GuideContext, step: MethodStep) -> StepState:
    if step is choices.step:
        return StepState.CURRENT
    if blocked(choices, known, step):
        return StepState.BLOCKED
    return StepState.DONE if done(choices, known, step) else StepState.OPEN


def _chosen(choices: GuideChoices, known: GuideContext, step: MethodStep) -> str:
    if not done(choices, known, step):
        return ""
    if step is MethodStep.TARGET and choices.target:
        return wording.short_place(choices.target)
    if step is MethodStep.FILE and choices.run_bytes is not None:
        what = "put" if choices.spec.command is Command.PUT else "get"
        return f"{what} {wording.file_size(choices.run_bytes)}"
    if step is MethodStep.QUIET:
        return str(WORDS[step][choices.quiet or acts.QuietChoice.RECORD]["done"])
    if step is MethodStep.WARM_UP:
        return f"{choices.spec.counts.warmups} + {wording.count(choices.spec.counts.runs, 'run')}"
    if step is MethodStep.RUN and known.series:
        return wording.count(len(known.series.measured()), "valid run")
    return ""
