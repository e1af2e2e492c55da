"""The rule of a long run that becomes slow, of those that `forms.diagnosis.rules` explains."""

from forms import wording
from forms.diagnosis import summary
from forms.findings.finding import Finding, NextAct, Severity
from storage import looks

FADES_TO = 0.6
"""Of its rate before: a run that falls to less was fast for a while only."""

FADES_KEY = "fast-then-slow"


def fades(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """A long run that becomes much slower and stays so; a note where that may be this client's doing."""
    change = summary.break_of(stage)
    if change is None or change.after > FADES_TO * change.before:
        return None

    before = f"after {wording.seconds(change.at_seconds)} at {wording.rate(change.before)}"
    flush_seconds = stage.number("flush_seconds") or 0.0
    title = f"Fast, then slow: {before} it is {wording.rate(change.after)}"
    evidence = f"Writing the rest to the disk took {wording.seconds(flush_seconds)} afterwards."
    cost = 1 - change.after / change.before

    busy_text = _busy_text(stage, diagnosis, change)
    if busy_text:
        return Finding(
            key=FADES_KEY,
            severity=Severity.NOTE,
            title=f"{title}, while this client was busy",
            evidence=f"{evidence} {busy_text}",
            what_to_do=(
                "It may be this client, or the server's memory that was full, so that the disk set the pace. Measure it"
                " again on a quieter client: `sharebench diagnose TARGET --only long-run`."
            ),
            cost=cost,
            sure="not certain: a busy client makes a run slower, too",
            figures=("whole", "after"),
        )
    return Finding(
        key=FADES_KEY,
        title=title,
        evidence=evidence,
        what_to_do=(
            "Probably the server's memory was full, and the disk set the pace: `sharebench isolate TARGET` measures the"
            " disk alone."
        ),
        cost=cost,
        sure=_certainty_of_break(change),
        next_act=NextAct.ISOLATE,
        figures=("whole", "after"),
    )


def doubtful_fading(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """The same where that may be this client's doing; else None."""
    finding = fades(stage, diagnosis)
    return finding if finding is not None and not finding.is_wrong else None


def _busy_text(stage: looks.Stage, diagnosis: looks.Diagnosis, change: summary.Break) -> str:
    """That this machine had too much to do in the slow part, and with what; empty where it had not.

    An older version did not look at the processors: then what waited for them in the stage as a whole tells.
    """
    busy_percent = summary.busy_percent_after(stage, change.at_seconds)
    busiest = summary.busiest_program_text(diagnosis)
    with_whom = f", most of all with {busiest}" if busiest else ""
    if busy_percent is None:
        is_busy = summary.is_machine_busy(stage)
        return f"This client was busy meanwhile{with_whom}." if is_busy else ""
    if busy_percent < summary.FULL_PERCENT:
        return ""
    percent = wording.percent(busy_percent)
    return f"This client's processors were {percent} busy in the slow part{with_whom}."


def _certainty_of_break(change: summary.Break) -> str:
    """How rarely a steady run would look so by chance; at most 1 in 1,000, or it is no break."""
    runs = min(10_000, int(1 / max(change.p_value, 1e-9)))
    return f"certain: a steady run looks like that in at most 1 of {runs:,} cases"
