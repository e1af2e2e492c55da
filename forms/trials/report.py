"""Trials on paper."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import wording
from forms.report import Bar, Chart, Field, Level, Report, ReportKind, Table, table_of
from forms.series.fields import origin_fields
from forms.series.report import series_document
from forms.stats.decision import Doubt, Verdict
from forms.trials.summary import TrialSummary
from forms.trials.sweep import SweepSummary
from forms.tuning.catalogue import acts_on
from forms.wording import VERDICT_SIGNS
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.records import Command, Series, format_target

TRIAL_SCHEMA = "sharebench/trial/1"
SWEEP_SCHEMA = "sharebench/sweep/1"

Document = dict[str, Any]


def trial_document(found: TrialSummary) -> Document:
    """The JSON object ``sharebench/trial/1``."""
    unit = "requests" if found.plan.load else "bytes"
    return {
        "schema": TRIAL_SCHEMA,
        "experiment": found.experiment.name,
        "created_at": found.experiment.created_at,
        "complete": found.complete,
        "verdict": found.verdict.value,
        "doubt": found.doubt.value if found.doubt else None,
        "reservations": [one.key for one in found.reservations],
        "plan": plan_document(found.plan),
        "looked_at_pairs": found.looked_at,
        "rejected_pairs": found.rejected_pairs,
        "effect": found.effect and asdict(found.effect),
        "slot_effect_percent": found.slot_effect_percent,
        "control": found.control and asdict(found.control),
        "pairs": [
            {
                "number": pair.number,
                "base_first": pair.base_first,
                f"base_{unit}_per_second": pair.base_rate,
                f"other_{unit}_per_second": pair.other_rate,
                "change_percent": 100 * (pair.ratio - 1),
                "control_ratio": pair.control_ratio,
            }
            for pair in found.pairs
        ],
        "slots": [asdict(slot) for slot in found.slots],
        "series": [series_document(found.base), series_document(found.other)],
    }


def sweep_document(found: SweepSummary) -> Document:
    """The JSON object ``sharebench/sweep/1``."""
    return {
        "schema": SWEEP_SCHEMA,
        "experiment": found.experiment.name,
        "created_at": found.experiment.created_at,
        "complete": found.complete,
        "plan": plan_document(found.plan),
        "blocks": found.blocks,
        "friedman_p_value": found.friedman_p,
        "settled": found.settled,
        "default_is_as_good": found.default_is_as_good,
        "smallest_on_plateau": found.smallest,
        "blocks_to_settle": found.blocks_to_settle,
        "values": [
            {
                "value": one.value,
                "series": one.series.id,
                "effect": one.effect and asdict(one.effect),
                "adjusted_p_value": one.adjusted_p,
                "against_best": one.against_best and asdict(one.against_best),
                "on_plateau": bool(found.blocks) and one.on_plateau,
                "standing": one.standing.value,
            }
            for one in found.values
        ],
        "slots": [asdict(slot) for slot in found.slots],
        "series": [series_document(one.series) for one in found.values],
    }


def plan_document(plan: TrialPlan) -> Document:
    """The plan without what leads to a server or runs commands there."""
    hidden = {"server_ssh", "smb_conf", "apply", "revert"}
    return {name: value for name, value in plan.to_json().items() if name not in hidden}


def trial_report(found: TrialSummary) -> Report:
    """A trial: the verdict, then its basis pair by pair."""
    plan = found.plan
    return Report(
        form="trial",
        title=f"Trial: {plan.name} = {found.value or 'empty'} against {found.plan.previous or 'empty'}",
        name="Trial",
        fields=(
            verdict_field(found),
            *about_plan(plan, found.base),
        ),
        tables=(_pairs(found),),
        results=tuple(replace(one, is_detail=True) for one in _figures(found)),
        advice=tuple(_advice(found)),
        drawn=(_changes(found),),
        document=lambda: trial_document(found),
    )


def _changes(found: TrialSummary) -> Chart | None:
    if (effect := found.effect) is None:
        return None
    bars = [Bar(name=str(pair.number), value=100 * (pair.ratio - 1)) for pair in found.pairs]
    tone = VERDICT_SIGNS[found.verdict].tone
    bars.append(Bar(name="All", value=effect.change_percent, interval=effect.interval_percent, tone=tone))
    return Chart(
        title="Change in each pair, and in all with its 95 % interval",
        unit="%",
        bars=tuple(bars),
        levels=(Level(name="no change", value=0.0),),
        is_dots=True,
        source=(0, 4),
        in_text=True,
    )


def verdict_field(found: TrialSummary) -> Field:
    """The verdict with its sign."""
    text = f"{VERDICT_SIGNS[found.verdict]} {verdict_sentence(found)}"
    return Field(name=wording.VERDICT, text=text, tone=VERDICT_SIGNS[found.verdict].tone)


def verdict_sentence(found: TrialSummary) -> str:
    """The verdict in one sentence, then what weakens it."""
    effect = found.effect
    if effect is None:
        return "Inconclusive: no pair is complete yet. Resume the trial."
    seen = wording.verdict_sentence(found.verdict, effect.change_percent, effect.interval_percent)
    what_to_do = _why_unknown(found) if found.verdict is Verdict.UNKNOWN else _recommendation(found)
    said = [f"{seen} in {wording.count(effect.pairs, 'pair')}.", what_to_do]
    return " ".join([*said, *(one.text for one in found.reservations)])


def _recommendation(found: TrialSummary) -> str:
    plan, faster = found.plan, found.verdict is Verdict.FASTER
    if plan.kind is ChangeKind.HOOK:
        return f"Keep {plan.name}." if faster else f"Leave {plan.name} out."
    if faster:
        return f"Set {plan.name} = {found.value or 'empty'}."
    return f"Leave {plan.name} at {plan.previous or 'empty'}."


def _why_unknown(found: TrialSummary) -> str:
    if found.doubt is Doubt.DRIFT:
        return "What the setting cannot touch changed as well (see the fixed work below): try again at a quieter time."
    if found.doubt is Doubt.VARYING:
        return "The pairs vary too much: use longer runs (a larger file) or a quieter time."
    done = len(found.pairs)
    nearest = next((look for look in found.plan.looks if look > done), found.plan.looks[-1])
    return f"The next verdict is possible after {nearest} pairs: resume the trial."


def about_plan(plan: TrialPlan, base: Series) -> Iterator[Field]:
    """What was measured, which setting, and the evidence that it acted."""
    yield Field(name="Measured", text=f"{_what(plan, base)} {format_target(base.target, escaped=False)}")
    yield from origin_fields([base])
    for one in plan.axes or (plan,):
        where = " ".join(filter(None, (one.section, f"({one.kind})")))
        yield Field(name="Setting", text=f"{one.name} {where}, {one.previous or 'empty'} before")
    for proof in plan.proofs:
        yield Field(name="Proven", text=proof)


def _what(plan: TrialPlan, base: Series) -> str:
    if plan.load is None and base.command is Command.GET and base.plan and base.plan.make_file:
        return "get of a file that was made anew for each run, under the value that is measured, in"
    if plan.load is None:
        return base.command
    users = wording.count(plan.load.users, "user")
    scenario = plan.load.scenario
    return f"requests of {users} ({scenario.name}), in windows of {scenario.duration_seconds:g} s:"


def rate_unit(plan: TrialPlan) -> str:
    """The unit of rates."""
    return "requests/sec" if plan.load else "bytes/sec"


def _pairs(found: TrialSummary) -> Table:
    unit = rate_unit(found.plan)
    return table_of(
        found.pairs,
        ("Pair", ReportKind.TEXT, lambda pair: str(pair.number)),
        ("Order", ReportKind.TEXT, lambda pair: "A B" if pair.base_first else "B A"),
        (f"As it was, {unit}", ReportKind.WHOLE, lambda pair: pair.base_rate),
        (f"Tried, {unit}", ReportKind.WHOLE, lambda pair: pair.other_rate),
        ("Change in %", ReportKind.SIGNED, lambda pair: 100 * (pair.ratio - 1)),
        caption="A: as it was; B: tried",
        entry="pair",
    )


def _figures(found: TrialSummary) -> Iterator[Field]:
    effect = found.effect
    if effect is None:
        return
    text = f"{effect.p_value:.4f}, the probability of such a difference between equal settings (exact rank-sum test)"
    yield Field(name="p-value", text=text, number=effect.p_value)
    if effect.deviation_percent is not None:
        yield Field(
            name="Deviation of the pairs", text=f"{wording.cell_percent(effect.deviation_percent)} %",
            number=effect.deviation_percent, unit="%",
        )  # fmt: skip
    if found.slot_effect_percent is not None:
        seen = wording.signed_percent(found.slot_effect_percent)
        text = f"{seen} for the second of a pair; the order of the pairs balances it"
        yield Field(name="Order effect", text=text, number=found.slot_effect_percent, unit="%")
    if found.control:
        seen = f"{wording.signed_percent(found.control.change_percent)} (p {found.control.p_value:.3f})"
        text = f"{seen}: a setting cannot touch it; a change shows drift"
        if not found.control_counts:
            text += ", not counted: the processor of this machine did not limit the runs"
        yield Field(name="Fixed work", text=text, number=found.control.change_percent, unit="%")
    if found.rejected_pairs:
        yield Field(name="Pairs left out", text=f"{found.rejected_pairs}, a run of each is rejected or failed")


def _advice(found: TrialSummary) -> Iterator[str]:
    yield from generator_advice(found.slots)
    section = f"in {found.plan.section} " if found.plan.section else ""
    other = None if found.plan.load else acts_on(found.plan.name)
    if other not in {None, found.base.command}:
        yield f"{found.plan.name} is known to act on a {other} alone: try it on a {other} before you rely on this"
    elif found.verdict is Verdict.FASTER:
        change = f"write {found.plan.name} = {found.value} {section}yourself; sharebench has restored what was there"
        yield (
            f"try it again without these weaknesses, then {change}"
            if found.reservations
            else f"worth keeping: {change}"
        )


def generator_advice(slots: Sequence[Slot]) -> Iterator[str]:
    """Advice on windows that the load generator limited."""
    limited = sum(slot.generator_limited for slot in slots)
    if limited:
        yield (
            f"in {limited} of {len(slots)} windows the machine that made the load was the limit, not the server: what"
            " the setting does is more than what is seen here; make the load on another machine"
        )
