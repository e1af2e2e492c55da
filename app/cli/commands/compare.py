"""``sharebench compare`` and ``findings``."""

import click

from app import kinds
from app.cli import common
from app.cli.series_output import answer_report
from app.workflows.compare import sides_to_compare
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.findings.finding import findings_report
from forms.findings.rules import findings
from forms.stats.decision import Limits
from storage.recordings import SERIES


@common.command("compare")
@click.argument("base")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@click.option(
    "--again",
    multiple=True,
    metavar="SERIES",
    help="A repeat of BASE, best measured after OTHER; may be repeated.",
)
@click.option(
    "--noise",
    type=common.Number(0, 100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="A change within ± PERCENT is never faster or slower.",
)
@click.option(
    "--margin",
    type=common.Number(0, 1000, min_open=True),
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="No change: the 95 % interval lies within ± PERCENT.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON; an array for several.")
@common.options_of_all
def compare_command(
    context: click.Context,
    base: str,
    others: tuple[str, ...],
    again: tuple[str, ...],
    noise: float,
    margin: float,
    as_json: bool,
) -> int:
    """Compare each OTHER with BASE: faster, slower, no change or inconclusive.

    Equal series differ by themselves. By how much is estimated from the variation of the runs, from earlier equal
    series of the path, and from repeats of the base (--again); the verdict allows for it. An inconclusive verdict names
    the cheapest step that would settle it.

    Several OTHER stand side by side in one table. Loads are compared load point by load point; other kinds stand side
    by side without a verdict. Exit code 0: not slower; 1: slower; 3: inconclusive.
    """
    with common.notebook(context) as notebook:
        heads = kinds.alike(notebook, (base, *others))
        if heads[0].kind != SERIES:
            compared = kinds.compare(notebook, heads)
            answer_report(compared.report, as_json=as_json)
            return compared.exit_code
        sides = sides_to_compare(notebook, (base, *others), again)
        shown = [notebook.series(reference) for reference in (base, *others)]
    found = comparisons(sides, Limits(noise_percent=noise, margin_percent=margin))
    answer_report(comparison_report(shown, found), as_json=as_json)
    return kinds.exit_code([form.comparison.verdict for form in found])


@common.command("findings")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@common.options_of_all
def findings_command(context: click.Context, series: tuple[str, ...], as_json: bool) -> None:
    """Explain what SERIES say about a server: link, session, distance, SMB compared with FTP.

    The most serious comes first, each with its evidence and a recommendation.
    """
    with common.notebook(context) as notebook:
        found = findings([notebook.series(reference) for reference in dict.fromkeys(series)])
    answer_report(findings_report(found), as_json=as_json)
