"""The results as a Markdown table, with the machine and the date."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from typing import Any

from app.server.host_facts import client_facts
from forms.stats.summary import median
from forms.verdict_wording import VERDICT_WORDS
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
        "tcp": facts.get("tcp.congestion_control"),
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
    "| | sharebench MB/s | other MB/s | ratio (95 % interval) | at least | aim | client, of a core | server, of a core "
    "| memory MB |\n| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
)


def where(folder: str) -> str:
    """The machine, the programs and where the servers' files lie, for people."""
    here = machine()
    return (
        f"{here['date']}, {here['cpus']} x {here['cpu']}, Linux {here['kernel']} ({here['tcp']}), Python"
        f" {here['python']}; {here['smbclient']}, {here['curl']}, {here['iperf3']}; loopback, files in {folder}, in"
        " random order."
    )


def pair_line(result: Result) -> str:
    """The row of a comparison: medians in MB/s (10^6), the ratio with its interval, and the verdict."""
    ours, theirs = (f"{(median(rates) or 0) / 1e6:,.0f}" for rates in (result.our_rates, result.their_rates))
    ends = result.interval
    shares = ("" if share is None else f"{share:.2f}" for share in (result.client_share, result.server_share))
    ratio = f"{result.ratio:.2f}" + (f" ({ends[0]:.2f} to {ends[1]:.2f})" if ends else "")
    below = f", **below {result.at_least}**" if result.ratio < result.at_least else ""
    return (
        f"| {result.name} | {ours} | {result.theirs} {theirs} | {ratio}, "
        f"{VERDICT_WORDS[result.decision.verdict].lower()}{below} | {result.at_least} | {result.aim} "
        f"| {' | '.join(shares)} | {result.our_peak_bytes / 1e6:.0f} |"
    )
