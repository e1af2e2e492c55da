"""``sharebench check``: what is fine, what is not, what to do."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from app.cli import common
from app.cli.run_options import options_of_run
from app.clients.registry import check_client_name
from app.errors import MeasurementError
from forms.layout import visible
from storage.plan import Settings
from storage.records import Command

_WIDTH = 80
_INDENT = " " * 15


@options_of_run(
    "command", "block", "in_flight", "sign", "encrypt", "timeout", "client_name", "link", "server_ssh", "smb_conf"
)  # fmt: skip
@click.command("check", short_help="reaches, logs in, looks: what is fine, what is not, what to do")
@click.argument("target")
@click.option("--json", "as_json", is_flag=True, help="An array of objects with name, state and text.")
@common.login_options
@common.options_of_all
@click.pass_context
def check_command(context: click.Context, /, target: str, as_json: bool, **choices: Any) -> int:
    """Looks at TARGET before it is measured: reach, log in, share, file, server, link, quiet time, own limit.

    Nothing is measured, and nothing is left on the server. Ends with 4 when something failed.
    """
    from app.workflows.check import CheckState, Subject, check  # noqa: PLC0415  the clients' libraries are slow to load

    place, secrets = common.target_and_secrets(context, target, kerberos=choices["kerberos"])
    subject = Subject(
        target=place,
        secrets=secrets,
        settings=Settings(
            block_bytes=choices["block"],
            in_flight=choices["in_flight"],
            sign=choices["sign"],
            encrypt=choices["encrypt"],
            timeout_seconds=choices["timeout"],
        ),
        client=check_client_name(place.protocol, choices["client_name"]),
        command=Command(choices["command"]),
        link_bits_per_second=None if choices["link"] == "auto" else choices["link"],
        server_ssh=choices["server_ssh"],
        smb_conf=choices["smb_conf"],
    )
    found = []
    with common.notebook(context) as notebook:
        for checked in check(subject, notebook):
            found.append(checked)
            if not as_json:
                text = textwrap.fill(
                    visible(checked.text), _WIDTH - len(_INDENT), break_on_hyphens=False, break_long_words=False
                )
                lines = text.splitlines()
                common.answer(f"{checked.state.value}  {checked.name:<11}{lines[0]}")
                for line in lines[1:]:
                    common.answer(_INDENT + line)
    if as_json:
        common.answer_json([{"name": c.name, "state": c.state.name.lower(), "text": c.text} for c in found])
    failed = [checked for checked in found if checked.state is CheckState.FAILED]
    if failed:
        raise MeasurementError(failed[0].text)
    return 0
