"""What the guide knows in a round besides the user's choices: what the pages are made of.

``app.guide.context_reading`` reads it from the notebook.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from app.method import choices as method_choices
from storage import records
from storage.notebook import Notebook

if TYPE_CHECKING:
    from app.backend import Backend
    from forms.comparison.comparison import Comparison
    from forms.comparison.judged_sides import Sides
    from forms.findings.finding import Finding
    from forms.series.file_size import FileSizeContext
    from forms.stats.before_change import BasePower
    from forms.trial.summary import TrialSummary

# Two targets with the same three are on one server, so what is known of its link holds for both.
_server_of = attrgetter("protocol", "host", "port")

Targets = Callable[[Notebook], Iterable[records.Target]]
"""The targets of a notebook's recordings, with what to offer first at the front."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """A series that the one of this round is compared with."""

    name: str
    """What it is: ``the base``, ``baseline NAME``, ``FTP``."""
    series: records.Series
    reference: str = ""
    """The baseline's name, which names all its series; empty for the series by itself."""
    sides: "Sides | None" = None
    """The comparison with it, of the base with all that repeats it; None for just the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBase:
    """A series that the next ones can be compared with, after a change."""

    series: records.Series
    ids: tuple[str, ...]
    """Of the series and its repeats, which count together."""
    power: "BasePower | None"
    """What they will show after a change; None where nobody can say, or the change was likely made already."""
    baseline: str = ""
    """Its name as a baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    """The link to a target, and the memory beside which a file is judged."""

    bits_per_second: int | None = None
    """None where it is not known."""
    source: str = ""
    """For people: where the rate is from, or why there is none."""
    memory_bytes: int | None = None
    """Of the server, where it is this machine; None for another one."""


def link_to(target: records.Target, backend: "Backend") -> LinkState:
    """What the backend says of the way there; takes a while."""
    rate, source = backend.link(target)
    return LinkState(bits_per_second=rate, source=source, memory_bytes=backend.memory_bytes(target))


def no_targets(_notebook: Notebook) -> Iterable[records.Target]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideContext:
    """Facts for the pages of one round; everything may be missing."""

    # What can be measured
    practice: tuple[records.Target, ...] = ()
    """The practice servers that run on this machine."""
    servers: tuple[tuple[str, records.Target], ...] = ()
    """Those of the settings file, each with its name."""
    targets: Targets = no_targets
    """What finds the targets of the notebook."""
    recent: tuple[records.Target, ...] = ()
    """The targets that were measured last, each server and share once."""
    listed_shares: tuple[records.Target, ...] = ()
    """What servers have listed, also before sharebench began."""

    # What is known of the target that was chosen
    link: LinkState = field(default_factory=LinkState)
    quiet: records.Quiet | None = None
    """What a look at the other load on the target has shown; None before one."""
    measured_bytes_per_second: float | None = None
    """What the newest series of its server reached; None where there is none."""
    measured_link_bits_per_second: int | None = None
    """The link speed that this series has; None where it has none."""
    left: tuple[str, ...] = ()
    """What interrupted trials left changed, and where."""
    newest_baseline: StoredBase | None = None
    """The baseline that was named last; at the first two steps alone, and while nothing else is under way."""

    # The series of this round, and what it is compared with: ``base`` is where a next series begins, ``yardsticks`` are
    # all that its result is put beside, ``as_base`` looks ahead, to what can be compared with this series
    series: records.Series | None = None
    """None until there is one."""
    others: tuple[records.Series | None, ...] = ()
    """Those of the round's other targets, whose runs were interleaved with its own; None for one that has none yet."""
    base: records.Series | None = None
    """What the next series is made from, or is to repeat."""
    kept_as: tuple[str, ...] = ()
    """The names of the series as a baseline."""
    as_base: StoredBase | None = None
    """The series as the base of a change; at the last two steps alone, and while no change is proven."""
    yardsticks: tuple[Yardstick, ...] = ()
    findings: "tuple[Finding, ...]" = ()
    """What the series and its yardsticks show, the gravest first."""

    # The change of this round, or the one that is being proven
    proof: "Sides | None" = None
    """Its base, and the series with the change, each with its repeats."""
    settled: "Sides | None" = None
    """What tells most of it: the two whose runs were interleaved, where there are such."""

    # At the last step alone: what an experiment and trials say of this and of other changes
    step: "Comparison | None" = None
    """The change of this series as its experiment judges it, together with the other changes; None without others."""
    trials: "tuple[TrialSummary, ...]" = ()
    """What was tried since the series was measured, the newest first."""
    measured_changes: "tuple[tuple[records.Change, Sides], ...]" = ()
    """The changes of the client that were measured from this series, the newest first."""


def towards(
    target: records.Target, choices: method_choices.GuideChoices, context: GuideContext
) -> tuple[method_choices.GuideChoices, GuideContext]:
    """The choices with that target, and what is known of it: the rate and the link of another server say nothing."""
    if choices.target is None or _server_of(choices.target) != _server_of(target):
        context = replace(context, link=LinkState(), measured_bytes_per_second=None, measured_link_bits_per_second=None)
    return method_choices.with_target(choices, target), context


def series_of_sides(choices: method_choices.GuideChoices, context: GuideContext) -> list[records.Series | None]:
    """The series of the round's own target, then those of its other targets; None for one that has none yet."""
    # Until the notebook was read for new choices, it is not known of all.
    missing = [None] * (len(choices.others) - len(context.others))
    return [context.series, *context.others[: len(choices.others)], *missing]


def file_size_context(choices: method_choices.GuideChoices, context: GuideContext) -> "FileSizeContext":
    """What there is to judge a file by: the link as the user or the interface says it, memory, earlier results."""
    from forms.series.file_size import FileSizeContext

    return FileSizeContext(
        link_bits_per_second=choices.spec.link_bits_per_second or context.link.bits_per_second,
        measured_bytes_per_second=context.measured_bytes_per_second,
        memory_bytes=context.link.memory_bytes,
    )
