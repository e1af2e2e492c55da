"""What is known to be wrong in forms that were imported."""

from collections.abc import Iterator

from app.exchange import storing
from forms.findings.rules_series import CONTRADICTIONS, LEFT_OUT
from forms.layout import visible
from forms.tuning.catalogue import misprints_about


def doubts_about(imported: storing.Import) -> Iterator[str]:
    """A sentence for each misprint of a printed example, and for each form that left out or contradicts something."""
    for misprint in misprints_about(*imported.new):
        yield f"misprint in {misprint.sentence}"

    for series in imported.series:
        facts = series.environment.get("client", {})
        if facts.get(LEFT_OUT):
            yield f"{series.id}: left out: {visible(str(facts[LEFT_OUT]))}"
        if facts.get(CONTRADICTIONS):
            yield f"{series.id}: the form contradicts itself: {visible(str(facts[CONTRADICTIONS]))}"
