"""``sharebench compare`` and ``findings``."""

import click

from app import kinds
from app.cli import common
from app.comparison.history import sides_to_compare
from forms.comparison.report import comparison_report
from forms.comparison.rules import findings
from forms.comparison.summary import comparisons
from forms.findings.report import findings_report
from forms.stats.decision import Limits
from storage.recordings import SERIES


@common.command("compare")
@click.argument("base")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@common.option("--again", "SERIES", "A repeat of BASE, best measured after OTHER; may be repeated.", multiple=True)
@click.option(
    "--alone", is_flag=True, help="Compare the named series alone, without those that repeat them or came before."
)
@common.verdict_options
@common.answering_options("Print the comparison as JSON; an array for several.")
def compare_command(
    context: click.Context, /, *, base: str, others: tuple[str, ...], again: tuple[str, ...], alone: bool,
    as_json: bool, **limits: float,
) -> int:  # fmt: skip
    """Compare each OTHER with BASE: faster, slower, no change or inconclusive.

    Equal series differ by themselves. By how much is estimated from the variation of the runs, from earlier equal
    series of the path, and from repeats of the base (--again); the verdict allows for it. An inconclusive verdict names
    the cheapest step that would settle it; a trial of the change, where there is a newer one, is told in its place.

    Where both have a profile of smbd (isolations, and --profile of run and diagnose), the calls that take the time come
    with it, those to blame first.

    Several OTHER stand side by side in one table. Loads are compared load point by load point; other kinds stand side
    by side without a verdict. The exit code is the comparison's own: 0: not slower; 1: slower; 3: inconclusive, or
    both have the same settings.
    """
    with common.notebook(context) as notebook:
        heads = kinds.alike(notebook, (base, *others))
        if heads[0].kind != SERIES:
            compared = kinds.compare(notebook, heads)
            common.answer_report(compared.report, as_json=as_json)
            return compared.exit_code
        sides = sides_to_compare(notebook, (base, *others), again, alone=alone)
        shown = [notebook.series(reference) for reference in (base, *others)]
    found = comparisons(sides, Limits(noise_percent=limits["noise"], margin_percent=limits["margin"]))
    common.answer_report(comparison_report(shown, found), as_json=as_json)
    return kinds.exit_code([form.comparison.verdict for form in found])


@common.command("findings")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@common.answering_options("Print the findings as JSON.")
def findings_command(context: click.Context, series: tuple[str, ...], as_json: bool) -> None:
    """Explain what SERIES say about a server: link, session, distance, SMB compared with FTP.

    The most serious comes first, each with its evidence and a recommendation.
    """
    with common.notebook(context) as notebook:
        found = findings([notebook.series(reference) for reference in dict.fromkeys(series)])
    common.answer_report(findings_report(found), as_json=as_json)
