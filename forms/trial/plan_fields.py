"""What the forms of a trial and of a sweep share: their plan, whether the server was restored, and words for both.

A trial compares one value of a setting with the value before it, a sweep several values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from forms import layout, report, wording
from forms.series.client_text import client_text
from forms.series.origin import origin_fields
from forms.tuning.session_evidence import follows
from storage import changes, records

_DEFAULT = "default"
"""What testparm prints for a setting of several defaults."""


def leave_as_it_is(plan: changes.TrialPlan) -> str:
    """The advice to leave the setting at the value that it had, without a full stop."""
    if not plan.previous:
        return f"Leave `{plan.name}` empty"
    value = "its default" if plan.previous == _DEFAULT else f"`{plan.previous}`"
    return f"Leave `{plan.name}` at {value}"


def plan_fields(plan: changes.TrialPlan, base: records.Series) -> Iterator[report.Field]:
    """What was measured, by which client, and which settings were tried from which value."""
    target = records.format_target(base.target, escaped=False)
    yield report.measured_field(f"{_what_was_measured(plan, base)} {target}")

    # What the trial itself changes is told with the setting, not as a property of the client.
    signing = None if follows("client.signing", plan.name) else base.client.signing
    encryption = None if follows("client.encryption", plan.name) else base.client.encryption
    yield report.Field(name="Client", text=client_text(replace(base.client, signing=signing, encryption=encryption)))
    yield from origin_fields([base])

    # A plan over one setting has no axes: its own fields describe it.
    for axis in plan.axes or (plan,):
        place = " ".join(filter(None, (axis.section, f"({axis.kind})")))
        previous = axis.previous or "empty"
        yield report.Field(
            name="Setting", text=f"{axis.name} {place}: {previous} before, tried {wording.listed([*axis.values])}"
        )
    for proof in plan.proofs:
        yield report.Field(name="Proven", text=proof)


def server_fields(journal: Sequence[changes.JournalEntry]) -> Iterator[report.Field]:
    """Whether what a trial changed was restored; nothing while it is at work, or where its journal is not."""
    open_entries = [entry for entry in journal if entry.state is changes.ChangeState.OPEN]
    still_changed = [entry.name for entry in open_entries if not entry.at_work]
    if still_changed:
        names = wording.listed([*dict.fromkeys(still_changed)])
        text = f"still changed ({names}): restore it with R in the notebook, or with `sharebench restore`"
        yield report.Field(name="Server", text=text, tone=layout.Tone.BAD)
    elif journal and not open_entries:
        restored_at = max(entry.ended_at or "" for entry in journal)
        yield report.Field(name="Server", text=f"restored {records.with_zone(restored_at)}")


def _what_was_measured(plan: changes.TrialPlan, base: records.Series) -> str:
    """What the target's name follows in a sentence: ``get of a file …, in``."""
    if plan.load is not None:
        users = wording.count(plan.load.users, "user")
        scenario = plan.load.scenario
        return f"requests of {users} ({scenario.name}), in windows of {scenario.duration_seconds:g} s:"
    if base.command is records.Command.GET and base.plan and base.plan.counts.make_file:
        return "get of a file that was made anew for each run, under the value that is measured, in"
    return base.command


def counted_work(plan: changes.TrialPlan, base: records.Series) -> str:
    """What the rates of a trial count: requests of a load, operations at random places, or bytes."""
    if plan.load is not None:
        return "requests"
    return "operations" if base.is_random else "bytes"


def rate_unit(plan: changes.TrialPlan, base: records.Series) -> str:
    return f"{counted_work(plan, base)}/sec"


def generator_advice(slots: Sequence[changes.Slot]) -> Iterator[str]:
    limited = sum(slot.generator_limited for slot in slots)
    if limited:
        yield (
            f"in {limited} of {len(slots)} windows the machine that made the load was the limit, not the server: what"
            " the setting does is more than what is seen here; make the load on another machine"
        )
