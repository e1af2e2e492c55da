"""The results as a Markdown table, with the machine and the date."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from app.environment.host.facts import client_facts
from forms.stats.summary import deviation_percent, median
from tests.benchmarks.pairs import Result
from tests.servers.process import missing


def machine() -> dict[str, Any]:
    """What the numbers hold for."""
    facts = client_facts()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpus": facts.get("cpu.count"),
        "cpu": facts.get("cpu.model"),
        "kernel": facts.get("kernel"),
        "python": facts.get("python.version"),
        "smbclient": _version("smbclient", "--version"),
        "curl": _version("curl", "--version"),
        "iperf3": _version("iperf3", "--version"),
    }


def _version(*words: str) -> str:
    if missing(words[0]):
        return f"no {words[0]}"
    printed = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split("\n")[0]
    return " ".join(printed.split()[:2])


PAIRS_HEAD = (
    "| | sharebench MB/s | other MB/s | ratio | at least | aim | memory MB |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def where() -> str:
    """The machine and the programs, for people."""
    here = machine()
    return (
        f"{here['date']}, {here['cpus']} x {here['cpu']}, Linux {here['kernel']}, Python {here['python']};"
        f" {here['smbclient']}, {here['curl']}, {here['iperf3']}; loopback, page cache, in alternating pairs."
    )


def pair_line(result: Result) -> str:
    """The row of a comparison: medians in MB/s (10^6) with the deviation in percent."""
    return (
        f"| {result.name} | {_cell(result.our_rates)} | {result.theirs} {_cell(result.their_rates)} "
        f"| {result.ratio:.2f} | {result.at_least} | {result.aim} | {result.our_peak_bytes / 1e6:.0f} |"
    )


def _cell(rates: Sequence[float]) -> str:
    scatter = deviation_percent(rates)
    return f"{(median(rates) or 0) / 1e6:,.0f}" + (f" ± {scatter:.0f} %" if scatter is not None else "")
