"""``sharebench findings``: what measured series say of a set-up, the gravest first."""

import click

from app.cli import common
from app.cli.series_output import answer_report
from forms.findings.report import findings_report
from forms.findings.rules import findings


@click.command("findings")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@click.option("--json", "as_json", is_flag=True, help="The findings as one object.")
@common.options_of_all
@click.pass_context
def findings_command(context: click.Context, series: tuple[str, ...], as_json: bool) -> None:
    """Says what each SERIES and all of them together tell: link, session, distance, SMB against FTP.

    The gravest comes first, each with its evidence and what to do.
    """
    with common.notebook(context) as notebook:
        found = findings([notebook.series(reference) for reference in dict.fromkeys(series)])
    answer_report(findings_report(found), as_json=as_json)
