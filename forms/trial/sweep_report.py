"""A sweep on paper: its answer, a row and a point of the curve for each value, and what would settle it.

A sweep measures several values of a setting in *blocks*: one run with each of the values, in random order. It is
*settled* where each value is known to be worse than the best, or as good as it.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from forms import layout, report, wording
from forms.findings.series_warnings import short_runs
from forms.trial.document import sweep_document
from forms.trial.plan_fields import generator_advice, leave_as_it_is, plan_fields, rate_unit
from forms.trial.sweep import Standing, SweepSummary, SweepValue

_STANDING_WORDS = {Standing.WORSE: "slower", Standing.LEVEL: "as good", Standing.UNDECIDED: "undecided"}
"""How a value stands beside the best, for people."""


def sweep_report(sweep: SweepSummary) -> report.Report:
    plan = sweep.plan
    is_settled = sweep.complete and sweep.settled
    sentences = [sweep_sentence(sweep)]
    if plan.load is None:
        # All values are measured with one file, so that one warning of its size is enough.
        warnings = list(chain.from_iterable(short_runs(value.series) for value in sweep.values))
        sentences += [warning.text for warning in warnings[:1]]
    tone = layout.Tone.PLAIN if is_settled else layout.Tone.CAUTION
    answer = report.answer_field(" ".join(sentences), tone)

    return report.Report(
        form="sweep",
        title=f"Sweep of {plan.name}",
        name="Sweep",
        fields=(answer, *plan_fields(plan, sweep.values[0].series)),
        tables=(_value_table(sweep),),
        results=tuple(_sweep_figures(sweep)),
        advice=tuple(generator_advice(sweep.slots)),
        drawn=(_sweep_chart(sweep),),
        document=partial(sweep_document, sweep),
    )


def sweep_sentence(sweep: SweepSummary) -> str:
    if not sweep.complete:
        return f"Not finished: {sweep.blocks} of {sweep.plan.looks[-1]} blocks are complete. Resume the sweep."
    if not sweep.settled:
        return f"Inconclusive after {sweep.blocks} blocks{_slower_values(sweep)}. {_remedy(sweep)}"

    within = f"at most {wording.percent(_largest_loss_percent(sweep))} slower than the best"
    if not sweep.default_is_as_good:
        return f"Set `{sweep.plan.name} = {sweep.smallest}`: the smallest value as good as the best tried ({within})."
    answer = f"{leave_as_it_is(sweep.plan)}: no value tried is faster."
    if sweep.smallest:
        answer += f" `{sweep.smallest}` is the smallest that is as good ({within})."
    return answer


def _slower_values(sweep: SweepSummary) -> str:
    """``, but slower than the best: "8", "16"``; empty where no value surely is."""
    slower = [f'"{_value_name(sweep, value)}"' for value in sweep.values if value.standing is Standing.WORSE]
    return f", but slower than the best: {', '.join(slower)}" if slower else ""


def _largest_loss_percent(sweep: SweepSummary) -> float:
    """How much slower than the best a value that counts as good may be, by the low ends of the intervals."""
    effects = [value.against_best for value in sweep.values if value.on_plateau and value.against_best]
    losses = [-effect.interval_percent[0] for effect in effects if effect.interval_percent]
    return max([0.0, *losses])


def _remedy(sweep: SweepSummary) -> str:
    """What would settle it, as a sentence."""
    if sweep.blocks_to_settle is None:
        return "Use longer runs (a larger file) or a quieter time: the runs vary too much."
    return f"About {sweep.blocks_to_settle} blocks would settle it (--blocks {sweep.blocks_to_settle})."


def _value_table(sweep: SweepSummary) -> report.Table:
    headings = report.columns_of(
        sweep.plan.name,
        (f"Average, {rate_unit(sweep.plan, sweep.values[0].series)}", report.ReportKind.WHOLE),
        ("Change in %", report.ReportKind.SIGNED),
        ("From %", report.ReportKind.SIGNED),
        ("To %", report.ReportKind.SIGNED),
        "p (Holm)",
        "Beside the best",
    )
    return report.Table(columns=headings, rows=tuple(_value_row(sweep, value) for value in sweep.values))


def _value_row(sweep: SweepSummary, value: SweepValue) -> report.Row:
    effect = value.effect
    low, high = (effect and effect.interval_percent) or (None, None)
    return report.row_of(
        _value_name(sweep, value),
        value.average,
        effect.change_percent if effect else None,
        low,
        high,
        "" if value.adjusted_p is None else f"{value.adjusted_p:.3f}",
        _STANDING_WORDS[value.standing] if sweep.blocks else "",
    )


def _value_name(sweep: SweepSummary, value: SweepValue) -> str:
    if value.value is None:
        previous = sweep.plan.previous or "empty"
        return f"{previous} (present value)"
    return value.value or "empty"


def _sweep_figures(sweep: SweepSummary) -> Iterator[report.Field]:
    yield report.Field(
        name="Blocks", text=f"{sweep.blocks}, each value once in each, in a new order", number=sweep.blocks
    )
    if sweep.friedman_p is not None:
        text = f"{sweep.friedman_p:.4f}, the probability of such differences between equal values"
        yield report.Field(name="p (Friedman)", text=text, number=sweep.friedman_p, is_detail=True)


def _sweep_chart(sweep: SweepSummary) -> report.Chart | None:
    if sweep.plan.axes:
        return None

    base, *other_values = sweep.values
    bars = [
        report.Bar(name=_short_value(value), value=value.average, interval=sweep.interval_of(value))
        for value in other_values
    ]
    levels = (report.Level(name="present value", value=base.average),) if base.average else ()
    return report.Chart(
        title=f"Average at each value of {sweep.plan.name}",
        unit=rate_unit(sweep.plan, sweep.values[0].series),
        bars=tuple(bars),
        levels=levels,
        is_curve=True,
        source=(0, 1),
        rows_before=1,
        in_text=True,
    )


def _short_value(value: SweepValue) -> str:
    """The last word of a value, and of that what follows "=": `SO_SNDBUF=65536` is 65536."""
    words = (value.value or "").split() or ["empty"]
    return words[-1].rpartition("=")[2]
