"""What several comparisons answer, as fields: of their form, and of the page that is handed over."""

from collections.abc import Iterator, Sequence

from forms import report, wording
from forms.comparison import wording as words
from forms.comparison.pair_report import TO_SETTLE
from forms.comparison.several import likely_links, sentences, sides
from forms.comparison.several.remarks import weaknesses_of_several
from forms.comparison.summary import ComparisonSummary
from forms.layout import Tone
from forms.tuning.differences import differences_prose

_DOUBTS = "Doubts"
"""The name of the field that says what weakens the verdicts."""

_FIRST_TO_LAST = "First to last"
"""The name of the field that holds the newest of several against the base, where steps lie between."""


def in_order_of_page(
    comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]
) -> Sequence[ComparisonSummary]:
    """That of the newest side first, then in the order of time, where there are steps from one to the next."""
    return sentences.first_to_last(sides.oldest_first(comparisons)) if neighbours else comparisons


def tone_of_answer(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]) -> Tone:
    """That of the verdict which the answer begins with."""
    return sentences.settled_first(neighbours or comparisons)[0].comparison.tone


def basis_text(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]) -> str:
    """What the verdicts are judged by, and why those on like changes differ."""
    texts = [sentences.basis_of_several(comparisons), sentences.unlike_verdicts_text(comparisons, neighbours)]
    return " ".join(filter(None, texts))


def answer_fields(
    comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]
) -> Iterator[report.Field]:
    """Of a form: all steps in one sentence, and what explains them; without steps the verdicts below answer it."""
    text = sentences.explanation_of_several(comparisons)
    tone = Tone.PLAIN
    if neighbours:
        text = sentences.answer_of_several(comparisons, neighbours)
        tone = tone_of_answer(comparisons, neighbours)
    yield from report.fields_of(_one_of_answers(wording.ANSWER, text, tone))


def fields_on_all(several: Sequence[ComparisonSummary]) -> Iterator[report.Field]:
    """What holds for several of the comparisons: which link their rates look like, and what weakens the verdicts."""
    link = likely_links.likely_link_sentence(several)
    doubts = " ".join(weaknesses_of_several(several))
    yield from report.fields_of(_one_of_answers(likely_links.LIKELY_LINK, link), _one_of_answers(_DOUBTS, doubts))


def verdict_fields_of_form(
    comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]
) -> Iterator[report.Field]:
    """Of a form: the same fields as on the page where there are steps, with all that would settle an open verdict.

    Without steps each verdict says what would settle it, and what differs.
    """
    if not neighbours:
        yield from map(sentences.verdict_field, comparisons)
        yield from fields_on_all(comparisons)
        return

    yield from verdict_fields_of_page(comparisons, neighbours)
    for compared in comparisons:
        comparison = compared.comparison
        title = words.comparison_title(comparison)
        next_step = words.next_sentence(comparison)
        if next_step:
            yield _one_of_answers(TO_SETTLE, f"{title}: {next_step}")
        if comparison.differences and not comparison.known:
            yield _one_of_answers("What differs", f"{title}: {differences_prose(comparison.differences)}.")


def _one_of_answers(name: str, text: str, tone: Tone = Tone.PLAIN) -> report.Field:
    return report.Field(name=name, text=text, tone=tone, role=report.FieldRole.ONE_OF_ANSWERS)


def verdict_fields_of_page(
    comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]
) -> Iterator[report.Field]:
    """Of a page: each verdict with its figures, the likely reason, and what weakens the verdicts.

    The steps from one to the next come first; a pair that is such a step has one verdict.
    """
    if neighbours:
        yield _one_of_answers(sentences.STEP_BY_STEP, sentences.neighbours_text(neighbours))

    steps = set(map(sides.pair_of, neighbours))
    # In the order of the page the first one is that of the newest.
    name = _FIRST_TO_LAST if neighbours else wording.VERDICT
    for compared in comparisons:
        if sides.pair_of(compared) not in steps:
            yield _one_of_answers(name, _verdict_text(compared), compared.comparison.tone)
        name = wording.VERDICT
    yield from fields_on_all((*neighbours, *comparisons))


def _verdict_text(compared: ComparisonSummary) -> str:
    comparison = compared.comparison
    clause = words.comparison_clause(comparison)
    verdict = f"{words.comparison_title(comparison)}: {clause}.{sentences.rates_sentence(comparison)}"
    return " ".join(filter(None, [verdict, words.certain_from_sentence(comparison)]))


def settling_fields_of_page(comparisons: Sequence[ComparisonSummary]) -> Iterator[report.Field]:
    """What would settle each open verdict, but for what whoever is handed the page cannot restore."""
    for compared in comparisons:
        step = compared.comparison.settle
        if step is not None and not step.needs_past:
            text = f"{words.comparison_title(compared.comparison)}: {words.settling_sentence(step)}"
            yield report.Field(name=TO_SETTLE, text=text)
