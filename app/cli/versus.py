"""Measure a target and others, interleaved, and compare them: ``run --versus OTHER``, and the demo.

OTHER is another target, other options of the client, or both.
"""

import math
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Protocol

import click

from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.base.targets import parse_target
from app.cli import console, declare, measuring, option_values
from app.cli.commands.notebook import show_series
from app.cli.run_options import series_options, spec_from_options
from app.clients.base import Secrets
from app.recording.spec import Lineage, SeriesSpec, with_values
from app.series import requests as series_requests
from forms import wording
from forms.comparison.judged_sides import Sides
from forms.comparison.pairs import smallest_shown_percent
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.stats.decision import Limits
from storage.records import Series, Target, format_target

_OPTIONS_OF_CLIENT = ("client", "block_bytes", "in_flight", "sign", "encrypt", "like", "flush")
"""The options that can be changed between two runs without touching the server."""

_OPTIONS_OF_SERVER = ("server_ssh", "smb_conf")
"""Those that say where the facts of another target's server are read; they change nothing by themselves."""

_AS_IT_IS = "as it is"
"""What the base is called where only options differ."""


@click.command("--versus", add_help_option=False)
@click.argument("target", required=False)
@declare.option("--credentials", "FILE", "How to log in to the target.")
@series_options(*_OPTIONS_OF_CLIENT, *_OPTIONS_OF_SERVER)
def _versus_options(**_choices: object) -> None:
    """What may differ between two sides."""


class LogIn(Protocol):
    """Finds what logs in to a target; ``credentials`` is a file of its own."""

    def __call__(self, target: Target, *, credentials: str | None = None) -> tuple[Target, Secrets]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of the comparison: what is measured where, and the options that it differs from the base by."""

    spec: SeriesSpec
    target: Target
    secrets: Secrets
    options: str = ""


def other_side(base: Side, words: str, log_in: LogIn | None = None) -> Side:
    """The base with the target and the options in ``words`` in place of its own. Raises UsageError, LoginError.

    ``log_in``: how to log in to another target; None where only options may differ.
    """
    context = _parsed(words)
    typed = option_values.typed_options(context)
    typed_for_client = [name for name in _OPTIONS_OF_CLIENT if name in typed]
    url = context.params["target"]
    target = _parsed_target(url) if url else base.target

    if target == base.target:
        _check_other_options(typed_for_client, typed)
        secrets = base.secrets
        spec = base.spec
    elif log_in is None:
        raise UsageError("--versus takes only options here")
    else:
        target, secrets = log_in(target, credentials=context.params["credentials"])
        spec = _spec_at(base.spec, base.target, target)

    choices = {name: value for name, value in context.params.items() if name not in ("target", "credentials")}
    other_values = spec_from_options(choices).to_json()
    typed_values = {name: other_values[name] for name in typed if name in choices}
    return Side(
        spec=with_values(spec, typed_values),
        target=target,
        secrets=secrets,
        options=" ".join(_typed_option(typed[name], context.params[name]) for name in typed_for_client),
    )


def _check_other_options(typed_for_client: Collection[str], typed: Collection[str]) -> None:
    """Raises UsageError where the target is the same and nothing differs, or what belongs to another target does."""
    if not typed_for_client:
        raise UsageError(
            "--versus names no difference: write what is to differ, such as --versus '--in-flight 1', or another TARGET"
        )
    if set(typed) - {"target", *typed_for_client}:
        raise UsageError("--versus names the same target: leave out --credentials, --server-ssh and --smb-conf")


def _parsed(words: str) -> click.Context:
    """The words of one ``--versus``. Raises UsageError, which does not repeat them: a URL may hold a password."""
    try:
        return _versus_options.make_context("--versus", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        problem = error.format_message().rstrip(".") if isinstance(error, click.UsageError) else str(error)
        raise UsageError(
            f"--versus: {problem}; it takes --client, --block, --in-flight, --sign, --encrypt, --like, --flush and a"
            " TARGET, which may have --credentials, --server-ssh and --smb-conf"
        ) from None


def _parsed_target(url: str) -> Target:
    try:
        return parse_target(url)
    except UsageError as error:
        raise type(error)(f"--versus: {error}", options=error.options) from None


def _typed_option(option: str, value: object) -> str:
    """As one types it: ``--block 1M``, ``--sign``."""
    if value is True:
        return option
    if option == "--block" and isinstance(value, int):
        return f"{option} {wording.typed_size(value)}"
    return f"{option} {value}"


def _spec_at(spec: SeriesSpec, target: Target, other: Target) -> SeriesSpec:
    """What was asked for at a target, as it can be asked for at another one.

    What belongs to the server of the first (its configuration, its place in an experiment), or to a protocol that the
    other does not speak, is left out.
    """
    is_same_host = other.host == target.host
    monitor = replace(spec.monitor, server_ssh=spec.monitor.server_ssh if is_same_host else None, smb_conf=None)
    spec = replace(
        spec,
        monitor=monitor,
        lineage=Lineage(),
        link_bits_per_second=spec.link_bits_per_second if is_same_host else None,
    )
    if not other.abilities.is_local:
        spec = replace(spec, settings=replace(spec.settings, drop_cache=False))
    if other.protocol == target.protocol:
        return spec

    spec = replace(spec, client="")
    if other.abilities.has_dialect:
        return spec
    return replace(
        spec,
        settings=replace(spec.settings, sign=False, encrypt=False, single_requests=False, like=None),
        counts=replace(spec.counts, profile=False),
    )


def side_names(sides: Sequence[Side]) -> list[str]:
    """What the sides are called, the base first: the least that tells their targets apart, and what options differ."""
    targets = list(dict.fromkeys(side.target for side in sides))
    if len(targets) == 1:
        return [_AS_IT_IS, *(side.options for side in sides[1:])]

    name_by_target = dict(zip(targets, target_names(targets), strict=True))
    return [f"{name_by_target[side.target]} {side.options}".strip() for side in sides]


def target_names(targets: Sequence[Target]) -> list[str]:
    """The least text that tells the targets apart: host, share, protocol, port, or file; else the whole address."""
    for name_of in _NAMES_OF_TARGET:
        names = [name_of(target) for target in targets]
        if all(names) and len(set(names)) == len(names):
            return names
    return [format_target(target) for target in targets]


def _host(target: Target) -> str:
    return target.host or "local"


def _share(target: Target) -> str:
    return target.share or ""


def _protocol(target: Target) -> str:
    return target.abilities.label


def _port(target: Target) -> str:
    return f"port {target.port_number}" if target.port_number else ""


def _file(target: Target) -> str:
    return PurePosixPath(target.path).name


def _folder_and_file(target: Target) -> str:
    return "/".join(PurePosixPath(target.path).parts[-2:])


def _host_and_protocol(target: Target) -> str:
    return f"{_host(target)} {_protocol(target)}"


_NAMES_OF_TARGET: tuple[Callable[[Target], str], ...] = (
    _host,
    _share,
    _protocol,
    _port,
    _file,
    _folder_and_file,
    _host_and_protocol,
)


def run_versus(
    base: Side,
    others: Sequence[Side],
    path: Path,
    *,
    within_seconds: float = math.inf,
    as_json: bool = False,
    with_form: bool = False,
    tells_power: bool = False,
) -> int:
    """Measure all sides interleaved, in random order, and print the comparison of each other with the base.

    ``with_form``: the form of the base comes first. ``tells_power``: say how small a change the pairs show. The
    exit code is that of the worst verdict.
    """
    sides = [base, *others]
    requests = []
    for side, name in zip(sides, side_names(sides), strict=True):
        label = f"{base.spec.texts.label} {name}".strip()
        if name == _AS_IT_IS:
            label = base.spec.texts.label or name
        spec = series_requests.with_label(side.spec, label)
        requests.append(series_requests.series_request(spec, side.target, side.secrets))

    labels = [request.spec.texts.label for request in requests]
    all_series = measuring.measure_interleaved(requests, path, labels, within_seconds)
    if with_form:
        show_series(all_series[0], chart=True)
        console.answer("")

    base_series = all_series[0]
    forms = comparisons([Sides(base=(base_series,), other=(series,)) for series in all_series[1:]])
    console.answer_report(comparison_report(all_series, forms), as_json=as_json)
    if tells_power:
        _tell_power(all_series)
    return exit_code_of(form.comparison.verdict for form in forms)


def _tell_power(all_series: Sequence[Series]) -> None:
    """Say how small a change the pairs of runs can show, which nobody chose the number of."""
    base = all_series[0]
    smallest_changes = [smallest_shown_percent(base, other, Limits()) for other in all_series[1:]]
    known_changes = [percent for percent in smallest_changes if percent is not None]
    if not known_changes:
        return

    pairs = len(base.measured())
    change = wording.percent(max(known_changes))
    console.say(f"{pairs} pairs find a change of {change} here, 9 times in 10; --runs N asks for more")
