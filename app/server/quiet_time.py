"""Quiet time: whether other activity before or during a series could bias it, judged from samples of this machine.

The verdicts are *quiet*; *typical*: activity is visible; and *busy*: it can change a result by percents. The thresholds
are ours. `app.server.quiet_watch` takes the samples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.server.host_activity import Sample, Wire
from app.server.resources import spread_of
from forms.who.busiest import busiest_text
from storage.records import Facts, Quiet, QuietVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """From where on a figure is typical, and from where on busy; below both it is quiet."""

    typical: float
    busy: float


OTHERS_CPU_PERCENT = Threshold(typical=5, busy=20)
"""Of the whole machine: one busy loop takes 50 on 2 CPUs, 12.5 on 8."""
STOLEN_PERCENT = Threshold(typical=5, busy=15)
RUN_QUEUE_PER_CPU = Threshold(typical=1, busy=2)
"""Judged only before a series: during it our own threads are counted too."""
LINK_PERCENT = Threshold(typical=0.5, busy=5)
"""Of the link's speed; where that is unknown, of 1 Gbit/s, or of our own rate if that is higher."""
DISK_PERCENT = Threshold(typical=20, busy=60)
"""Of the busiest disk's time; not judged during a series whose transfer uses a disk of this machine."""
SERVER_CPU_PERCENT = Threshold(typical=20, busy=60)
TYPICAL_RETRANSMIT_PERCENT = 1.0
"""Of the TCP segments sent."""
TYPICAL_RETRANSMIT_LEAST = 20
"""Number of TCP retransmissions below which their share means nothing."""
LASTING_SHARE = 0.2
"""A figure counts if it holds on average or in this share of the seconds."""
UNKNOWN_LINK_BYTES_PER_SECOND = 125e6
"""1 Gbit/s, taken for a link whose speed is not known."""
LEAST_SECONDS = 0.25
"""CPU time is counted in hundredths of a second; shorter periods are too coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    """What was at work on the server before the series; None for what is unknown."""

    cpu_percent: float | None = None
    other_sessions: int | None = None
    """Of SMB, from machines other than this one."""
    busiest: str = ""
    """Who does most there, for people; empty where nobody looked, or nobody does anything."""


def server_load(facts: Facts) -> ServerLoad | None:
    """From the facts of a server; None where they say nothing of it."""
    cpu = facts.get("cpu.busy_percent_before")
    sessions = facts.get("server.sessions.other_machines")
    if cpu is None and sessions is None:
        return None
    return ServerLoad(
        cpu_percent=float(cpu) if cpu is not None else None,
        other_sessions=int(sessions) if sessions is not None else None,
        busiest=busiest_text(facts),
    )


def is_server_busy(facts: Facts) -> bool:
    """Whether a server's processors were at work before the series; False where that is not known."""
    return float(facts.get("cpu.busy_percent_before", 0)) >= SERVER_CPU_PERCENT.typical


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietContext:
    """What the samples are judged by, besides themselves."""

    cpus: int = 1
    wire: Wire = field(default_factory=Wire)
    """The link that our transfer uses."""
    own_disk: bool = False
    """Whether our transfer uses a disk of this machine: a local path, or a server on this machine."""


def assess(
    before: Sequence[Sample],
    during: Sequence[Sample] = (),
    context: QuietContext | None = None,
    server: ServerLoad | None = None,
) -> Quiet:
    """The worst verdict of any figure, with the reasons for it and all figures.

    ``before`` are the samples from before a series, ``during`` those from its runs, ``server`` what its server did
    before it.
    """
    context = context or QuietContext()
    reasons: list[tuple[QuietVerdict, str]] = []

    if _long_enough(before):
        reasons += _phase_reasons(before, context, running=False)
    if _long_enough(during):
        reasons += _phase_reasons(during, context, running=True)

    figures = _figures(before, "before") | _figures(during, "during")
    if server:
        reasons += _server_reasons(server)
        figures["server_cpu_percent_before"] = _rounded(server.cpu_percent)
        figures["server_other_sessions_before"] = server.other_sessions
    if not figures:
        return Quiet(verdict=QuietVerdict.UNKNOWN, reasons=("this system does not say what it is busy with",))

    verdicts = {verdict for verdict, _ in reasons}
    worst = QuietVerdict.QUIET
    if QuietVerdict.BUSY in verdicts:
        worst = QuietVerdict.BUSY
    elif QuietVerdict.TYPICAL in verdicts:
        worst = QuietVerdict.TYPICAL
    texts = [text for verdict, text in reasons if verdict is worst]
    if server is not None and server.busiest and worst is not QuietVerdict.QUIET:
        texts.append(f"the busiest session on the server was {server.busiest}")
    return Quiet(verdict=worst, reasons=tuple(texts), figures=figures)


def _phase_reasons(
    samples: Sequence[Sample], context: QuietContext, *, running: bool
) -> Iterator[tuple[QuietVerdict, str]]:
    """What is typical or busy in the samples, each with its reason in words; ``running``: they are from the runs."""
    when = "during the runs" if running else "before the series"

    others = _judge(samples, [sample.others_cpu_percent for sample in samples], OTHERS_CPU_PERCENT)
    if others:
        yield others.reason(f"other programs took {others.value:.0f} % of this machine's CPUs {when}")

    stolen = _judge(samples, [sample.stolen_percent for sample in samples], STOLEN_PERCENT)
    if stolen:
        yield stolen.reason(f"the hypervisor took {stolen.value:.0f} % of the CPU time for other machines {when}")

    link = _judge(samples, [_link_percent(sample, context.wire) for sample in samples], LINK_PERCENT)
    if link:
        megabytes = _mean(samples, [_link_rate(sample) for sample in samples]) / 1e6
        yield link.reason(f"others moved {megabytes:.1f} MB/s over {context.wire.interface} {when}")

    queue = _judge(samples, [sample.run_queue / context.cpus for sample in samples], RUN_QUEUE_PER_CPU)
    if queue and not running:
        load = queue.value * context.cpus
        yield queue.reason(f"the CPU load was {load:.1f} on {context.cpus} CPUs {when}")

    disk = _judge(samples, [sample.disk_percent for sample in samples], DISK_PERCENT)
    if disk and not (running and context.own_disk):
        yield disk.reason(f"a disk of this machine was at work {disk.value:.0f} % of the time {when}")

    sent = sum(sample.segments_sent for sample in samples)
    retransmitted = sum(sample.retransmitted for sample in samples)
    # A few may be lost on any path: they count from a least number and a least share on.
    is_lossy = 100 * retransmitted >= TYPICAL_RETRANSMIT_PERCENT * sent
    if retransmitted >= TYPICAL_RETRANSMIT_LEAST and is_lossy:
        yield QuietVerdict.TYPICAL, f"{retransmitted} of {sent} TCP segments were retransmitted {when}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _BusyFigure:
    """A figure beyond a threshold, on average or in enough of the seconds, with the verdict that this gives."""

    verdict: QuietVerdict
    value: float
    """The average, of the worse seconds alone if only those are beyond the threshold."""
    duration: str = ""
    """In words, in how many of the seconds it was so; empty where it was on average."""

    def reason(self, text: str) -> tuple[QuietVerdict, str]:
        return self.verdict, f"{text}{self.duration}"


def _judge(samples: Sequence[Sample], figures: Sequence[float], limit: Threshold) -> _BusyFigure | None:
    """Judge one figure of all samples by its average, or by the seconds in which it was worse; None where it is quiet.

    ``figures`` are the samples' in their order.
    """
    average = _mean(samples, figures)
    full_seconds = [
        (sample, figure) for sample, figure in zip(samples, figures, strict=True) if sample.seconds >= LEAST_SECONDS
    ]
    for verdict, edge in ((QuietVerdict.BUSY, limit.busy), (QuietVerdict.TYPICAL, limit.typical)):
        if average >= edge:
            return _BusyFigure(verdict=verdict, value=average)

        # Not on average, but in two seconds at least: a single one may be chance.
        worse = [(sample, figure) for sample, figure in full_seconds if figure >= edge]
        if len(worse) >= 2 and len(worse) >= LASTING_SHARE * len(full_seconds):
            value = _mean([sample for sample, _ in worse], [figure for _, figure in worse])
            duration = f", for {len(worse)} of {len(full_seconds)} seconds"
            return _BusyFigure(verdict=verdict, value=value, duration=duration)
    return None


def _server_reasons(server: ServerLoad) -> Iterator[tuple[QuietVerdict, str]]:
    cpu = server.cpu_percent or 0.0
    if cpu >= SERVER_CPU_PERCENT.typical:
        verdict = QuietVerdict.BUSY if cpu >= SERVER_CPU_PERCENT.busy else QuietVerdict.TYPICAL
        yield verdict, f"the server's CPUs were {cpu:.0f} % busy before the series"
    if server.other_sessions:
        noun = "session" if server.other_sessions == 1 else "sessions"
        yield QuietVerdict.TYPICAL, f"the server had {server.other_sessions} {noun} of other machines"


def _link_percent(sample: Sample, wire: Wire) -> float:
    """What others moved, in percent of the link's speed."""
    our_rate = sample.our_bytes / sample.seconds
    nominal_rate = max(UNKNOWN_LINK_BYTES_PER_SECOND, our_rate)
    if wire.bits_per_second:
        nominal_rate = wire.bits_per_second / 8
    return 100 * _link_rate(sample) / nominal_rate


def _link_rate(sample: Sample) -> float:
    """Bytes per second that others moved."""
    return sample.others_link_bytes / sample.seconds


def _mean(samples: Sequence[Sample], figures: Sequence[float]) -> float:
    """The average figure of the samples, each weighted by its time."""
    weighted = [figure * sample.seconds for sample, figure in zip(samples, figures, strict=True)]
    return sum(weighted) / sum(sample.seconds for sample in samples)


def _long_enough(samples: Sequence[Sample]) -> bool:
    return sum(sample.seconds for sample in samples) >= LEAST_SECONDS


def _figures(samples: Sequence[Sample], when: str) -> dict[str, float | None]:
    """The figures that are stored with the verdict, named as in ``cpu_percent_before`` and ``cpu_percent_during``."""
    if not _long_enough(samples):
        return {}

    # Shorter samples are too coarse for figures of the processors; where all are, they are taken together.
    full_samples = [sample for sample in samples if sample.seconds >= LEAST_SECONDS]
    cpu_samples = full_samples or samples
    cpu_figures = {
        "cpu_user_percent": [sample.user_percent for sample in cpu_samples],
        "cpu_system_percent": [sample.cpu_percent - sample.user_percent for sample in cpu_samples],
        "cpu_percent": [sample.cpu_percent for sample in cpu_samples],
    }
    spreads = {name: spread_of(figures) for name, figures in cpu_figures.items()} if full_samples else {}

    figures: dict[str, float | None] = {f"seconds_{when}": _rounded(sum(sample.seconds for sample in samples))}
    for name, values in cpu_figures.items():
        figures[f"{name}_{when}"] = _rounded(_mean(cpu_samples, values))
    for name, spread in spreads.items():
        figures[f"{name}_median_{when}"] = _rounded(spread.median)
    for name, spread in spreads.items():
        figures[f"{name}_deviation_{when}"] = _rounded(spread.deviation)

    figures |= {
        f"others_cpu_percent_{when}": _rounded(_mean(samples, [sample.others_cpu_percent for sample in samples])),
        f"stolen_percent_{when}": _rounded(_mean(samples, [sample.stolen_percent for sample in samples])),
        f"run_queue_{when}": _rounded(_mean(samples, [sample.run_queue for sample in samples])),
        f"others_link_bytes_per_second_{when}": round(_mean(samples, [_link_rate(sample) for sample in samples])),
        f"disk_percent_{when}": _rounded(_mean(samples, [sample.disk_percent for sample in samples])),
        f"segments_sent_{when}": sum(sample.segments_sent for sample in samples),
        f"retransmitted_{when}": sum(sample.retransmitted for sample in samples),
    }
    return figures


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
