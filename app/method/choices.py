"""What the user chose in one round of the method, and how one round's choices become those of the next.

The method: measure a series, change one thing, measure again, compare; each series is one round. The guide leads
through it, and the notebook remembers the round that it left. A function here takes choices and returns other ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Annotated, Any, Self

from app.base.messages import plain
from app.recording.spec import Lineage, SeriesSpec, without_hooks
from app.series.requests import spec_of, with_label
from storage import plan, records
from storage.json_reader import BESIDE, DocumentError, JSONNode

MEMORY_KEY = "guide"
"""Under which the notebook remembers the choices."""


class MethodStep(StrEnum):
    """The steps of the method (Using Samba, appendix B), in order."""

    TARGET = "target"
    FILE = "file"
    QUIET = "quiet"
    WARM_UP = "warm-up"
    RUN = "run"
    REVIEW = "review"
    EXPECTED = "expected"
    CHANGE = "change"


class QuietChoice(StrEnum):
    """What is done about other activity on the machine, in the order of the guide's page."""

    RECORD = plan.QuietTime.RECORD
    REQUIRE = plan.QuietTime.REQUIRE
    WAIT = "wait"
    SKIP = plan.QuietTime.SKIP

    @property
    def quiet_time(self) -> plan.QuietTime:
        """As a series is asked for it: after the wait, the activity is recorded."""
        return plan.QuietTime.RECORD if self is QuietChoice.WAIT else plan.QuietTime(self)


STEPS = tuple(MethodStep)
INTERLEAVED = ", interleaved"
"""Ends the label of a series that was measured run by run beside another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSide:
    """Another target, whose runs are interleaved with those of the round's own to compare the two."""

    target: records.Target
    """The folder that is measured."""
    file: str | None = None
    """The path of the file to get, in the form of ``Target.path``; absent where one is made."""
    file_bytes: int | None = None
    """The size of that file; absent where one is made."""
    kerberos: bool = False
    """Whether the login is by a ticket, without a password."""
    credentials: str = ""
    """The path of the file with its login; empty where that is typed, or in the environment."""
    server_ssh: str | None = None
    """The way to its server's settings, as in `MonitorChoices`."""
    smb_conf: str | None = None
    series_id: str | None = None
    """The series that was measured of it in this round; absent until it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideChoices:
    """One round of the method, as far as it was answered: what will be measured, and what was, once it was.

    A round measures one series; the next one changes one thing, and has that series as its base. ``spec`` says how it
    is measured, and is kept from round to round; what came of a round is forgotten in the next (`_without_result`).
    """

    step: MethodStep = MethodStep.TARGET
    """The page that is open."""

    # What to measure
    spec: Annotated[SeriesSpec, BESIDE] = field(default_factory=SeriesSpec)
    """The series to measure; its size is None where a file is read that is there already."""
    target: records.Target | None = None
    """The folder that is measured; absent until the step is done."""
    file: str | None = None
    """The path of the file to get, in the form of ``Target.path``; absent where one is made."""
    file_bytes: int | None = None
    """The size of that file; absent where one is made, or nobody knows it."""
    kerberos: bool = False
    """Whether the login is by a ticket, without a password."""
    credentials: str = ""
    """The path of the file with the login; empty where that is typed, or in the environment."""
    quiet: QuietChoice | None = None
    """Absent until the step is done."""
    counted: bool = False
    """Whether the numbers of warm-ups and runs were chosen, and that step is done."""

    others: tuple[OtherSide, ...] = ()
    """The other targets of a round that compares several; none where it measures one."""
    lacks_other: bool = False
    """Whether a comparison was begun whose other target is not chosen yet."""

    # What was measured, and what came of it
    series_id: str | None = None
    """The series that was measured in this round; absent until it was."""
    after_baseline: str = ""
    """The baseline after which the label (in ``spec``) is called; empty where another was typed, or none."""
    has_new_label: bool = False
    """Whether the label (in ``spec``) was typed after the series was measured: it is that of the next one."""

    # More than one series of the same: the proof of a change, or repeats of a base
    proven_id: str | None = None
    """The changed series whose change is being proven: this round measures it again, or its restored base."""
    interleaved: int = 0
    """For a change that is made by hand, whose series alternate with those of the base: how many each is to have.

    0 where they do not alternate.
    """
    planned_repeats: int = 0
    """Of a base before a change: how many repeats are measured one after the other; 0 where none are."""
    repeat_number: int = 0
    """Which of them this round measures, from 1 on."""
    spacing_seconds: float = 0.0
    """From the begin of one to the begin of the next, at least."""

    # A change that waits for a better base
    again_name: str | None = None
    """The setting of a change that is to be made again, once its base was measured with a larger file."""
    again_value: str = ""
    """Its value."""

    # Which pages about the measured series are done
    reviewed: bool = False
    """Whether the page with the series that was measured is done."""
    compared: bool = False
    """Whether the page that holds it against its base, or what was expected, is done."""

    @property
    def makes_file(self) -> bool:
        return self.spec.counts.size_bytes is not None

    @property
    def run_bytes(self) -> int | None:
        """What each run moves; None until that is known."""
        return self.spec.counts.size_bytes if self.makes_file else self.file_bytes

    @property
    def repeat_name(self) -> str:
        """``Repeat 1 of 2``; empty for a round that is none of several repeats."""
        return f"Repeat {self.repeat_number} of {self.planned_repeats}" if self.planned_repeats else ""

    def to_memory(self) -> dict[str, records.JSONValue]:
        """What the notebook remembers: the values of the spec lie beside those of the guide."""
        values_of_guide = {
            field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name != "spec"
        }
        return without_hooks(self.spec).to_json() | values_of_guide

    @classmethod
    def from_memory(cls, memory: Mapping[str, Any] | None) -> Self:
        """The choices of :meth:`to_memory`; the usual ones where there are none, or they cannot be read."""
        try:
            choices = JSONNode("", memory or {}).record(cls)
        except DocumentError:
            return cls()
        return replace(choices, spec=without_hooks(choices.spec))


def with_target(choices: GuideChoices, target: records.Target, *, kerberos: bool = False) -> GuideChoices:
    """The choices for a target that has been reached; what belonged to another server is forgotten."""
    if choices.target is not None and is_same_server(choices.target, target):
        return replace(choices, target=target, kerberos=kerberos)
    return replace(in_new_round(_without_server(choices)), target=target, kerberos=kerberos)


def with_file(choices: GuideChoices, folder: str, path: str, size_bytes: int) -> GuideChoices:
    """The choices for a get of this file, picked from a folder of the target; a new round."""
    assert choices.target is not None
    choices = in_new_round(replace(choices, target=replace(choices.target, path=folder)))
    return replace(choices, spec=_getting(choices.spec), file=path, file_bytes=size_bytes)


def with_picked_file(choices: GuideChoices) -> GuideChoices:
    """A get of the file that was picked: a new round, unless it is what was measured."""
    picked = replace(choices, spec=_getting(choices.spec))
    return choices if picked == choices else in_new_round(picked)


def with_made_file(
    choices: GuideChoices, command: records.Command, size_bytes: int, *, flush: bool = False
) -> GuideChoices:
    """The choices with a file that will be made: sent for a put, or put first and then read for a get; a new round."""
    counts = replace(choices.spec.counts, size_bytes=size_bytes)
    settings = replace(choices.spec.settings, flush=flush)
    spec = replace(choices.spec, command=command, counts=counts, settings=settings)
    return in_new_round(replace(choices, spec=spec))


def _getting(spec: SeriesSpec) -> SeriesSpec:
    """The spec of a get of a file that is there already."""
    counts = replace(spec.counts, size_bytes=None)
    return replace(spec, command=records.Command.GET, counts=counts, settings=replace(spec.settings, flush=False))


def with_usual_settings(choices: GuideChoices) -> GuideChoices:
    """A new round of the same file, with the client and its settings as they are where nobody chose any."""
    spec = choices.spec
    usual_spec = replace(
        spec,
        client="",
        settings=plan.Settings(),
        counts=replace(spec.counts, verify=False, profile=False),
        monitor=replace(spec.monitor, ceiling=plan.CeilingPolicy.RECORD),
    )
    return replace(in_new_round(replace(choices, spec=usual_spec)), step=MethodStep.RUN)


def new_measurement(choices: GuideChoices) -> GuideChoices:
    """A fresh start; how one measures is kept, what was measured is not."""
    before = choices.spec.counts
    counts = plan.RunCounts(
        runs=before.runs,
        warmups=before.warmups,
        until_percent=before.until_percent,
        max_runs=before.max_runs,
    )
    return GuideChoices(spec=SeriesSpec(counts=counts), quiet=choices.quiet, counted=choices.counted)


def same_again(choices: GuideChoices) -> GuideChoices:
    """The round just measured once more, as a repeat in its experiment."""
    new_round = in_new_round(choices)
    lineage = Lineage(experiment=choices.spec.lineage.experiment, base_id=choices.series_id)
    spec = replace(new_round.spec, lineage=lineage)
    return replace(new_round, spec=spec, proven_id=choices.proven_id, step=MethodStep.RUN)


def choices_to_repeat(choices: GuideChoices, series: records.Series, proven_id: str | None) -> GuideChoices:
    """The settings of any stored series once more, as its repeat in its experiment.

    ``choices`` is the round that is left: how one logs in, waits and calls the next series is taken from it. Where a
    change is being proven, ``proven_id`` is the changed series.
    """
    repeat = choices_of(series)
    spec = replace(repeat.spec, lineage=replace(repeat.spec.lineage, base_id=series.id))
    if choices.has_new_label:
        spec = with_label(spec, choices.spec.texts.label)
    return replace(
        repeat,
        spec=spec,
        quiet=choices.quiet,
        kerberos=choices.kerberos,
        credentials=choices.credentials,
        step=MethodStep.RUN,
        proven_id=proven_id,
    )


def choices_of(series: records.Series) -> GuideChoices:
    """What was chosen for a series that was measured, by the guide or otherwise."""
    spec = spec_of(series)
    label = spec.texts.label.removesuffix(INTERLEAVED)
    # The interleaved twin of a series without a label was called by what it measured.
    is_made_up = label != spec.texts.label and label.startswith(f"{series.command} ")
    spec = with_label(spec, "" if is_made_up else label)

    if spec.counts.size_bytes is not None:
        return GuideChoices(spec=spec, target=series.target, quiet=QuietChoice.RECORD, counted=True)
    return GuideChoices(
        spec=spec,
        target=replace(series.target, path=series.target.path.rpartition("/")[0]),
        file=series.target.path,
        file_bytes=max({run.size_bytes for run in series.runs}, default=None),
        quiet=QuietChoice.RECORD,
        counted=True,
    )


def with_counts(choices: GuideChoices, counts: plan.RunCounts) -> GuideChoices:
    return replace(choices, spec=replace(choices.spec, counts=counts))


def as_in_series(choices: GuideChoices, series: records.Series, baseline: str) -> GuideChoices:
    """A round of its own with the file and the settings of a series of that baseline, to be compared with it."""
    alike = choices_of(series)
    spec = replace(alike.spec, lineage=Lineage())
    alike = replace(alike, spec=spec, quiet=choices.quiet or alike.quiet, step=MethodStep.RUN)

    is_typed = choices.has_new_label or (choices.series_id is None and not _has_label_after(choices))
    return after_baseline(alike, baseline, choices.spec.texts.label if is_typed else "")


def after_baseline(choices: GuideChoices, baseline: str, typed_label: str = "") -> GuideChoices:
    """The choices of a round that is compared with that baseline; where no label was typed, its own says so."""
    spec = with_label(choices.spec, typed_label or _label_after(baseline))
    return replace(choices, spec=spec, after_baseline="" if typed_label else baseline)


def _label_after(baseline: str) -> str:
    """``after-switch`` for ``before-switch``, and ``after march`` for ``march``."""
    for before, after in (("before", "after"), ("Before", "After")):
        of_what = baseline.removeprefix(before)
        if of_what != baseline and not of_what[:1].isalnum():
            return f"{after}{of_what}"
    return f"after {baseline}"


def _has_label_after(choices: GuideChoices) -> bool:
    """Whether the label is the one that ``after_baseline`` proposed."""
    baseline = choices.after_baseline
    return bool(baseline) and choices.spec.texts.label == _label_after(baseline)


def in_experiment(choices: GuideChoices, experiment: str | None) -> GuideChoices:
    """The choices for a series of that experiment, or of none."""
    lineage = replace(choices.spec.lineage, experiment=experiment)
    return replace(choices, spec=replace(choices.spec, lineage=lineage))


def choices_for_change(series: records.Series) -> GuideChoices:
    """The choices with the guide at the page of the change, the series being its base."""
    return replace(choices_of(series), step=MethodStep.CHANGE, series_id=series.id, reviewed=True, compared=True)


def with_change_after(choices: GuideChoices, change: records.Change | None) -> GuideChoices:
    """The choices of a round that measures a base, after which the guide offers that change again."""
    return replace(choices, again_name=change.name, again_value=change.value) if change else choices


def next_round(choices: GuideChoices, name: str, value: str, experiment: str) -> GuideChoices:
    """The round of a change of the setting ``name`` to ``value``; the series that was measured is its base."""
    typed_label = choices.spec.texts.label if choices.has_new_label else ""
    lineage = Lineage(
        experiment=experiment,
        base_id=choices.series_id,
        change_name=name,
        change_value=value,
    )

    spec = with_label(choices.spec, typed_label or _proposed_label(name, value))
    return replace(
        _without_result(choices),
        spec=replace(spec, lineage=lineage),
        again_name=None,
        others=(),
        lacks_other=False,
        step=MethodStep.RUN,
    )


def _proposed_label(name: str, value: str) -> str:
    return f"{name} = {value or 'empty'}"


def in_new_round(choices: GuideChoices) -> GuideChoices:
    """The choices without what was measured by them; a label that was typed for the next series stays."""
    spec = choices.spec
    lineage_before = spec.lineage
    # A label stays only where somebody typed it for the series to come: not one that `next_round` proposed for its
    # change, nor the one of the series that was measured.
    has_proposed_label = lineage_before.change_name is not None and spec.texts.label == _proposed_label(
        lineage_before.change_name, lineage_before.change_value
    )
    is_label_of_measured = choices.series_id is not None and not choices.has_new_label
    if has_proposed_label or is_label_of_measured or _has_label_after(choices):
        spec = with_label(spec, "")

    return replace(_without_result(choices), spec=replace(spec, lineage=Lineage()))


def _without_result(choices: GuideChoices) -> GuideChoices:
    """The choices without what was measured, seen and proven in this round."""
    return replace(
        choices,
        others=tuple(replace(other, series_id=None) for other in choices.others),
        series_id=None,
        after_baseline="",
        reviewed=False,
        compared=False,
        proven_id=None,
        interleaved=0,
        planned_repeats=0,
        repeat_number=0,
        spacing_seconds=0.0,
    )


def with_requests(spec: SeriesSpec, *, random: bool) -> SeriesSpec:
    """The spec with random requests in place of transfers of whole files, or the other way, in their usual size."""
    if spec.counts.random == random:
        return spec
    counts = replace(
        spec.counts,
        random=random,
        read_percent=None,
        random_seconds=plan.DEFAULT_RANDOM_SECONDS if random else None,
        verify=False,
    )
    return replace(spec, counts=counts, settings=replace(spec.settings, block_bytes=None, in_flight=None))


def _without_server(choices: GuideChoices) -> GuideChoices:
    """The choices without those that were made for one server or protocol, and may not fit another."""
    spec = with_requests(choices.spec, random=False)
    spec = replace(
        spec,
        client="",
        link_bits_per_second=None,
        counts=replace(spec.counts, size_bytes=None, verify=False, profile=False),
        settings=replace(spec.settings, sign=False, encrypt=False, like=None, drop_cache=False, flush=False),
        monitor=replace(spec.monitor, server_ssh=None, smb_conf=None, from_host=None),
    )
    return replace(choices, spec=spec, file=None, file_bytes=None, again_name=None, others=(), lacks_other=False)


def is_same_server(target: records.Target, other: records.Target) -> bool:
    """Whether it is one server, share and user: what is known of the one holds for the other."""
    return replace(target, path="") == replace(other, path="")
