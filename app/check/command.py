"""``sharebench check``: whether a target can be measured."""

import textwrap
from typing import Any

import click

from app.base import errors
from app.check.checked import Checked
from app.check.engine import check
from app.cli import console, declare, logins, notebooks, run_options, targets
from app.recording import rescue
from app.recording.spec import SeriesSpec
from forms.layout import visible

_WIDTH = 80
_INDENT = " " * 13


@declare.command("check")
@targets.target_argument()
@run_options.from_option("Check from that machine, reached by ssh; may be repeated.")
@declare.measuring_options("Print a JSON array of objects with name, state and text.")
@run_options.series_options(
    "command",
    "link_bits_per_second",
    "client",
    "block_bytes",
    "in_flight",
    "sign",
    "encrypt",
    "flush",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
)
def check_command(context: click.Context, /, target: str, as_json: bool, spec: SeriesSpec, **choices: Any) -> int:
    """Check that TARGET can be measured: connection, login, share, file, server, link, quiet time, client ceiling.

    Nothing is measured, and nothing is left on the server. Exit code 4: something failed.
    """
    place, secrets = logins.target_and_secrets(context, target, kerberos=choices["kerberos"])
    results: list[Checked] = []
    documents: list[dict[str, str]] = []
    reason = rescue.why_not_stored(notebooks.notebook_path(context))
    if reason:
        console.say(f"sharebench: what is measured now could not be stored: {reason}")
    with notebooks.notebook_to_read(context) as notebook:
        for spec_there in run_options.specs_from(spec, choices["from_hosts"]):
            host = spec_there.monitor.from_host
            for checked in check(place, secrets, spec_there, notebook):
                results.append(checked)
                documents.append(_document(checked, host))
                if not as_json:
                    _show(checked)

    if as_json:
        console.answer_json(documents)
    failed = [checked for checked in results if checked.is_failure]
    if failed:
        raise errors.MeasurementError(failed[0].text)

    for command, options in dict.fromkeys((checked.command, checked.options) for checked in results):
        console.recommend(command, options, "measure")
    return 0


def _document(checked: Checked, host: str | None) -> dict[str, str]:
    """``host``: the machine that checked; None for this one."""
    document = {"name": checked.name, "state": checked.state.name.lower(), "text": checked.text}
    if host is not None:
        document["from"] = host
    return document


def _show(checked: Checked) -> None:
    sign = checked.state.sign
    room = _WIDTH - len(_INDENT)
    lines = textwrap.wrap(visible(checked.text), room, break_on_hyphens=False, break_long_words=False)
    text = f"\n{_INDENT}".join(lines)
    console.answer(f"{console.toned(sign.text, sign.tone)} {checked.name:<11}{text}")
