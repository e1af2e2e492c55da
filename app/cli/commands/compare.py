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


@click.command("compare")
@click.argument("base")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@click.option(
    "--again",
    multiple=True,
    metavar="SERIES",
    help="BASE measured again, best after OTHER; may be given several times.",
)
@click.option(
    "--noise",
    type=common.Number(0, 100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="A change within ± this is never faster or slower.",
)
@click.option(
    "--margin",
    type=common.Number(0, 1000, min_open=True),
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="No change: the 95 % interval of the change lies within ± this.",
)
@click.option("--json", "as_json", is_flag=True, help="The comparison document; an array for several.")
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
    """Compares each OTHER with BASE: faster, slower, no change, or inconclusive.

    The verdict allows for what equal series differ by: it is estimated from how much the runs vary, from earlier equal
    series of the path, and from the base measured again after the change (--again). An inconclusive verdict comes with
    the cheapest step that would settle it. With several OTHER they stand side by side (get and put down; FTP, untuned
    and tuned across), each against the first of its host and command. Exit code 0: not slower; 1: slower; 3:
    inconclusive. Two loads are compared point by point; recordings of other kinds stand side by side, without a verdict
    on one against the other.
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


@click.command("findings")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@click.option("--json", "as_json", is_flag=True, help="The findings as one object.")
@common.options_of_all
def findings_command(context: click.Context, series: tuple[str, ...], as_json: bool) -> None:
    """Says what each SERIES and all of them together tell: link, session, distance, SMB against FTP.

    The gravest comes first, each with its evidence and what to do.
    """
    with common.notebook(context) as notebook:
        found = findings([notebook.series(reference) for reference in dict.fromkeys(series)])
    answer_report(findings_report(found), as_json=as_json)
