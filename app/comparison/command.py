"""``sharebench compare`` and ``findings``."""

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from app.recording.kind import ComparisonChoices, kind_of
from app.recording.several import recordings_of_one_kind


@declare.command("compare")
@click.argument("base")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@declare.option("--again", "SERIES", "A repeat of BASE, best measured after OTHER; may be repeated.", multiple=True)
@click.option("--repeats", is_flag=True, help="Average all complete series that repeat BASE or OTHER, named or not.")
@click.option("--alone", is_flag=True, help="Compare the named series alone, without the history of their path.")
@declare.verdict_options
@declare.answering_options("Print the comparison as JSON; an array for several.")
def compare_command(
    context: click.Context,
    /,
    *,
    base: str,
    others: tuple[str, ...],
    again: tuple[str, ...],
    repeats: bool,
    alone: bool,
    noise: float,
    margin: float,
    as_json: bool,
) -> int:
    """Compare each OTHER with BASE: faster, slower, no change or inconclusive.

    What is named is averaged: one series, or all of a baseline. Equal series differ by themselves. By how much is
    estimated from the variation of the runs, from earlier equal series of the path, and from repeats (--again,
    --repeats); the verdict allows for it. An inconclusive verdict names
    the cheapest step that would settle it; a trial of the change, where there is a newer one, is told in its place.

    Where both have a profile of smbd (isolations, and --profile of run and diagnose), the calls that take the time come
    with it, those to blame first.

    Several OTHER stand side by side in one table. Loads are compared load point by load point; other kinds stand side
    by side without a verdict. The exit code is the comparison's own: 0: not slower; 1: slower; 3: inconclusive, or
    both have the same settings.
    """
    if repeats and alone:
        raise UsageError("--repeats counts more series than are named, --alone no others: leave one of them out")
    references = (base, *others)
    choices = ComparisonChoices(
        references=references,
        again=again,
        repeats=repeats,
        alone=alone,
        noise_percent=noise,
        margin_percent=margin,
    )

    with notebooks.open_notebook(context) as notebook:
        heads = recordings_of_one_kind(notebook, references)
        compared = kind_of(heads[0]).compare(notebook, heads, choices)
    console.answer_report(compared.report, as_json=as_json)
    return compared.exit_code


@declare.command("findings")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@declare.answering_options("Print the findings as JSON.")
def findings_command(context: click.Context, series: tuple[str, ...], as_json: bool) -> None:
    """Explain what SERIES say about a server: link, session, distance, SMB compared with FTP.

    The most serious comes first, each with its evidence and a recommendation.
    """
    from forms.comparison.rules import findings
    from forms.findings.report import findings_report

    with notebooks.open_notebook(context) as notebook:
        all_findings = findings([notebook.series(reference) for reference in dict.fromkeys(series)])
    console.answer_report(findings_report(all_findings), as_json=as_json)
