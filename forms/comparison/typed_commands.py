"""The command lines that measure a series again, as a person types them."""

import shlex

from forms import wording
from storage import records
from storage.plan import DEFAULT_RANDOM_SECONDS, RunCounts, Settings


def command_to_repeat(series: records.Series) -> str:
    return f"sharebench run --again {series.id}"


def command_to_compare(base: str, other: str) -> str:
    """The command that compares two sides, each an id or a baseline's name, with all that repeat them."""
    typed_base = shlex.quote(wording.plain(base))
    typed_other = shlex.quote(wording.plain(other))
    return f"sharebench compare {typed_base} {typed_other} --repeats"


def command_to_interleave(base: records.Series, versus_options: str, runs: int) -> str:
    """The command that interleaves runs like those of ``base`` with runs that have other options, ``runs`` a side."""
    settings = base.plan.settings if base.plan else Settings()
    options_of_base = ""
    if settings.in_flight:
        options_of_base += f" --in-flight {settings.in_flight}"
    if settings.block_bytes:
        options_of_base += f" --block {wording.typed_size(settings.block_bytes)}"
    from_host = base.plan.monitor.from_host if base.plan else None
    if from_host:
        options_of_base += f" --from {shlex.quote(from_host)}"
    versus = shlex.quote(versus_options)
    return f"sharebench run --runs {runs} --versus {versus}{options_of_base} {options_of_path(base)}"


def command_to_try(base: records.Series, setting: str) -> str:
    """The command that tries ``NAME=VALUE`` on the server of a series, with the file of that series."""
    server_ssh = base.plan.monitor.server_ssh if base.plan else None
    ssh = f" --server-ssh {shlex.quote(server_ssh)}" if server_ssh else ""
    return f"sharebench try {shlex.quote(setting)} {options_of_path(base)}{ssh}"


def options_of_path(base: records.Series) -> str:
    """The direction, the file and the target of a series, as they are typed."""
    plan = base.plan
    is_put = base.command is records.Command.PUT
    makes_file = plan is not None and plan.counts.make_file

    options = _random_options(plan.counts) if plan and plan.counts.random else []
    if is_put:
        options.append("--put")
    if base.flushed:
        options.append("--flush")
    if makes_file:
        options.append("--make-file")
    if plan and plan.counts.size_bytes and (is_put or makes_file):
        options.append(f"--size {wording.typed_size(plan.counts.size_bytes)}")
    if plan and plan.counts.files:
        options.append(f"--files {plan.counts.files}")
    options.append(shlex.quote(wording.plain(records.format_target(base.target))))
    return " ".join(options)


def _random_options(counts: RunCounts) -> list[str]:
    options = ["--random"]
    if counts.read_percent is not None:
        options.append(f"--mix {counts.read_percent}")
    if counts.random_seconds not in {None, DEFAULT_RANDOM_SECONDS}:
        options.append(f"--seconds {counts.random_seconds:g}")
    return options
