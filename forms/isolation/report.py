"""The form of an isolation.

An isolation plays one script against the server's disk, the network, both at once and the server, to find what
limits it.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from forms import layout, report, wording
from forms.isolation import charts, tables
from forms.isolation import verdict as isolation_verdict
from forms.isolation import wording as isolation_wording
from forms.isolation.document import isolation_document
from forms.isolation.summary import IsolationSummary, MeasuredRatio, isolation_summary
from forms.series import origin
from storage.isolation import Isolation, Layer, LayerRun

FORM = "isolation"

_PARTS_ALONE = (("disk", Layer.DISK, Layer.DISK_WITH_NETWORK), ("network", Layer.NETWORK, Layer.NETWORK_WITH_DISK))
"""(name, the part alone, the part while the other is busy)"""

_MOST_GAIN = 10.0
"""Above it the end of an interval tells nothing."""


def isolation_report(isolation: Isolation) -> report.Report:
    summary = isolation_summary(isolation)
    tone = layout.Tone.CAUTION if summary.verdict.cause is isolation_verdict.Cause.UNKNOWN else layout.Tone.PLAIN
    answer = report.verdict_field(isolation_wording.answer_sentence(summary.verdict), tone)

    return report.Report(
        form=FORM,
        title=f"Is it Samba, the disk, or the network? {wording.place(isolation.target)}",
        name=isolation.label or isolation.id,
        fields=(answer, *_fields(isolation)),
        tables=tuple(tables.isolation_tables(summary)),
        results=tuple(_results(summary)),
        advice=(*isolation_wording.reservations(summary.verdict), *_advice(isolation)),
        drawn=(charts.server_chart(summary), charts.layers_chart(summary), charts.waterfall_chart(summary)),
        document=partial(isolation_document, summary),
    )


def _fields(isolation: Isolation) -> list[report.Field]:
    when = origin.when_field([isolation.created_at], [isolation.environment]).text
    failed_count = len(tables.failed_runs(isolation.runs))
    failed = f"; {wording.count(failed_count, 'measurement')} failed" if failed_count else ""
    lengths = f", runs of {isolation.seconds} s" if isolation.seconds else ""
    client = isolation.client
    session = ""
    if client:
        session = f"SMB {client.dialect}, signing {client.signing}, encryption {client.encryption}"

    return [
        *report.fields_of(
            ("Isolation", " · ".join(filter(None, (isolation.id, wording.plain(isolation.label))))),
            report.measured_field(f"{when}, {isolation.status}{failed}"),
        ),
        *origin.who_fields([isolation.environment]),
        *origin.harmful_fields([isolation.environment]),
        *report.fields_of(
            ("Script", _script_text(isolation)),
            ("Rounds", f"{isolation.rounds}{lengths}"),
            ("Session", session),
        ),
    ]


def _script_text(isolation: Isolation) -> str:
    text = isolation.script
    operations = sum(isolation.pass_operations.values())
    if operations:
        text = f"{wording.plain(isolation.script)}, {operations:,} operations a pass"
    if isolation.without:
        text += f", without {', '.join(isolation.without)}"
    return text


def _results(summary: IsolationSummary) -> list[report.Field]:
    details = report.fields_of(
        ("Slower alone", _slower_alone(summary)),
        ("Stat cache", _stat_cache_text(summary)),
        ("Cost of profiling", _profiling_cost_text(summary.profiling_cost)),
    )
    price = report.fields_of(("Price", isolation_wording.price_sentence(summary)))
    return [*price, *(replace(field, is_detail=True) for field in details)]


def _slower_alone(summary: IsolationSummary) -> str:
    """The runs of a part alone that were far slower than beside the other; of the judged ones a reservation tells."""
    slower = []
    for point in summary.points:
        if point.clients == summary.verdict.evidence.clients:
            continue
        for name, layer_alone, layer_beside in _PARTS_ALONE:
            if isolation_verdict.is_far_slower(point.rates.get(layer_alone), point.rates.get(layer_beside)):
                slower.append(f"{name} with {isolation_wording.clients_text(point)}")
    if not slower:
        return ""

    return f"{wording.listed(slower)}: idle processors take time to wake up, or those runs were disturbed"


def _stat_cache_text(summary: IsolationSummary) -> str:
    profile = summary.profile
    if not profile or not profile.stat_cache_lookups:
        return ""

    return f"{profile.stat_cache_hits:,} of {profile.stat_cache_lookups:,} look-ups found something"


def _profiling_cost_text(cost: MeasuredRatio | None) -> str:
    if cost is None:
        return ""

    change = f"while smbd does not count, the rate of the server changes by {isolation_wording.gain_text(cost)}"
    if cost.low is None or cost.high is None:
        return f"{change}, which may be chance"
    if not cost.low <= 1 <= cost.high:
        return change
    if cost.high > _MOST_GAIN:
        return "not known: the rounds vary too much"
    return f"{change}, which may be chance"


def _advice(isolation: Isolation) -> list[str]:
    advice = [wording.plain(problem) for problem in isolation.problems]
    advice += _failures(tables.failed_runs(isolation.runs))

    unexpected = sum(run.unexpected for run in isolation.runs)
    if unexpected:
        advice.append(
            f"{unexpected:,} operations ended otherwise than the script expects: is the folder free of others' files?"
        )
    return advice


def _failures(runs: Sequence[LayerRun]) -> list[str]:
    """A line for each reason, with the rounds in which it occurred."""
    rounds_of_failure: dict[tuple[str, str, str], list[int]] = {}
    for run in runs:
        failure = (run.layer.value, isolation_wording.clients_text(run), wording.plain(run.error or ""))
        rounds_of_failure.setdefault(failure, []).append(run.round)

    lines = []
    for (layer, clients, error), rounds in rounds_of_failure.items():
        plural = "s" if len(rounds) > 1 else ""
        lines.append(f"{layer}, {clients}, round{plural} {wording.listed(list(map(str, rounds)))} failed: {error}")
    return lines
