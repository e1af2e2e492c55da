"""``sharebench check``: whether a target can be measured."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click

from app.base import errors
from app.check.checked import Checked, CheckState
from app.check.engine import THE_WAY_THERE, check
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
    results_by_host: dict[str | None, list[Checked]] = {}
    documents: list[dict[str, str]] = []
    specs = run_options.specs_from(spec, choices["from_hosts"])
    reason = rescue.why_not_stored(notebooks.notebook_path(context))
    if reason:
        console.say(f"sharebench: what is measured now could not be stored: {reason}")
    with notebooks.notebook_to_read(context) as notebook:
        for spec_there in specs:
            host = spec_there.monitor.from_host
            results = results_by_host.setdefault(host, [])
            if len(specs) > 1 and not as_json:
                console.answer(f"From {host}:")
            for checked in check(place, secrets, spec_there, notebook):
                results.append(checked)
                documents.append(_document(checked, host))
                if not as_json:
                    _show(checked)

    if as_json:
        console.answer_json(documents)
    elif len(specs) > 1:
        console.answer("Places:")
        for host, results in results_by_host.items():
            _show(_place(str(host), results))
    _raise_failures(results_by_host)

    advice = [(checked.command, checked.options) for results in results_by_host.values() for checked in results]
    for command, options in dict.fromkeys(advice):
        console.recommend(command, options, "measure")
    return 0


def _place(host: str, results: Sequence[Checked]) -> Checked:
    """All that one machine checked, in a line."""
    failed = [checked.name for checked in results if checked.is_failure]
    if failed == [THE_WAY_THERE]:
        return Checked(host, "cannot be used", CheckState.FAILED)
    if failed:
        return Checked(host, f"cannot measure it: {', '.join(failed)}", CheckState.FAILED)

    weak = [checked.name for checked in results if checked.state is not CheckState.FINE]
    if weak:
        return Checked(host, f"can measure it; look at: {', '.join(weak)}", CheckState.ATTENTION)
    return Checked(host, "can measure it")


def _raise_failures(results_by_host: Mapping[str | None, Sequence[Checked]]) -> None:
    """Raises MeasurementError where something failed; of several machines it names those where it did."""
    failures: dict[str | None, str] = {}
    for host, results in results_by_host.items():
        failed = [checked.text for checked in results if checked.is_failure]
        if failed:
            failures[host] = failed[0]
    if not failures:
        return
    if len(failures) > 1:
        hosts = ", ".join(str(host) for host in failures)
        raise errors.MeasurementError(f"cannot be measured from {hosts}: the answer says why")

    for host, text in failures.items():
        # What fails on the way there names the machine already.
        is_named = host is None or host in text
        raise errors.MeasurementError(text if is_named else f"{host}: {text}")


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
    name = visible(checked.name)
    # A name that fills its column has its text on a line of its own.
    begin = f"{name:<11}" if len(name) < len(_INDENT) - 2 else f"{name}\n{_INDENT}"
    console.answer(f"{console.toned(sign.text, sign.tone)} {begin}{text}")
