"""``sharebench check``: what is fine, what is not, what to do."""

import textwrap
from typing import Any

import click

from app.cli import common, diagnostics, output
from app.cli.run_options import chosen, series_options, target_argument
from app.errors import MeasurementError
from app.workflows.check import CheckState, Subject, check
from forms.layout import visible

_WIDTH = 80
_INDENT = " " * 15


@click.command("check")
@target_argument()
@click.option("--json", "as_json", is_flag=True, help="An array of objects with name, state and text.")
@common.login_options
@common.options_of_all
@series_options(
    "command", "link_bits_per_second", "client", "block_bytes", "in_flight", "sign", "encrypt", "server_ssh",
    "smb_conf", "timeout_seconds",
)  # fmt: skip
def check_command(context: click.Context, /, target: str, as_json: bool, **choices: Any) -> int:
    """Looks at TARGET before it is measured: reach, log in, share, file, server, link, quiet time, own limit.

    Nothing is measured, and nothing is left on the server. Ends with 4 when something failed.
    """
    place, secrets = common.target_and_secrets(context, target, kerberos=choices["kerberos"])
    subject = Subject(target=place, secrets=secrets, options=chosen(choices))
    found = []
    with common.notebook(context, make=True) as notebook:
        for checked in check(subject, notebook):
            found.append(checked)
            if not as_json:
                text = textwrap.fill(
                    visible(checked.text), _WIDTH - len(_INDENT), break_on_hyphens=False, break_long_words=False
                )
                lines = text.splitlines()
                output.answer(f"{output.toned(checked.state.value, checked.state.tone)}  {checked.name:<11}{lines[0]}")
                for line in lines[1:]:
                    output.answer(_INDENT + line)
    if as_json:
        output.answer_json([{"name": c.name, "state": c.state.name.lower(), "text": c.text} for c in found])
    failed = [checked for checked in found if checked.state is CheckState.FAILED]
    if failed:
        raise MeasurementError(failed[0].text)
    for options in dict.fromkeys(checked.options for checked in found if checked.options):
        diagnostics.say(f"sharebench: what to do: {options}")
    return 0
