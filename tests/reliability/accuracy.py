"""The figures of a diagnosis against truth that is known from outside: distances, delays, folder costs, prices.

Round trips and stage times must be within 10 % of the truth and exponents within 0.15; the stated interval of a price
must hold the value of a long interleaved reference in 18 of 20; and two complaints that take long to provoke must be
named. ``python -m tests.reliability accuracy --part i/n --results FOLDER``.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.clients.base import Content, Meter
from app.clients.smb.client import SMBClient
from app.diagnosis.plan import SIZES
from storage.looks import Effort
from storage.plan import Settings
from storage.records import format_target
from tests.command_line import Inside
from tests.reliability.diagnosis import diagnosed
from tests.reliability.disks import slow_disk
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.distance import FarLink
from tests.servers.late import NAME, LateListingSmbd, LateOpeningSmbd, LateReadingSmbd, late_resolver
from tests.servers.netns import Link
from tests.servers.smbd import Smbd

PERCENT, EXPONENT = 10.0, 0.15
TIMES, PRICES = 10, 20
MOST_MISSED = 2
"""Of 20 intervals of a price."""
MIB = 1 << 20
MODES: Mapping[str, Settings] = {
    "plain": Settings(),
    "signed": Settings(sign=True),
    "encrypted": Settings(encrypt=True),
}
LONGER = replace(SIZES[Effort.QUICK], asked=1, stage_seconds=300.0)
"""A very busy machine skips the larger folder otherwise."""
REFERENCE_ROUNDS = 15
"""After each diagnosis: 300 in all, of which a stated interval has 6."""

Told = dict[str, list[float]]
"""By name, [what the diagnosis states, the truth]."""


@contextmanager
def _running(smbd: Smbd) -> Iterator[Smbd]:
    with ExitStack() as stack:
        stack.callback(smbd.stop)
        smbd.start()
        yield smbd


def _figures(document: Mapping[str, Any]) -> dict[str, Any]:
    return {one["key"]: one for one in document["figures"]}


def _samples(document: Mapping[str, Any]) -> dict[str, list[float]]:
    return {name: each for stage in document["stages"] for name, each in stage["samples"].items()}


def _distance(seconds: float, folder: Path) -> Told:
    """The round trip, and the legs of a login that are one round trip each."""
    with contextlib.closing(FarLink(seconds)) as link, _running(Smbd(link=link)) as smbd:
        document = diagnosed(smbd, folder, "--quick", "--only", "connect,distance")
    legs = {name: statistics.median(_samples(document)[f"{name}_seconds"]) for name in ("tcp_ipv4", "login_1", "share")}
    round_trip = _figures(document)["round_trip_seconds"]["value"]
    return {name: [value, seconds] for name, value in {"round trip": round_trip, **legs}.items()}


def _late_name(folder: Path) -> Told:
    seconds = 1.2
    with _running(Smbd()) as smbd, late_resolver(seconds, folder) as under:
        document = diagnosed(smbd, folder, "--quick", "--only", "connect", name=NAME, under=under)
    return {"lookup": [_samples(document)["lookup_seconds"][0], seconds]}


def _late_share(folder: Path) -> Told:
    with _running(Smbd(share_options={"root preexec": "sleep 1"})) as smbd:
        document = diagnosed(smbd, folder, "--quick", "--only", "connect")
    return {"share": [statistics.median(_samples(document)["share_seconds"]), 1.0]}


def _late_open(folder: Path) -> Told:
    with _running(LateOpeningSmbd()) as smbd:
        document = diagnosed(smbd, folder, "--quick", "--only", "small-files")
    return {"open": [statistics.median(_samples(document)["get_open_seconds"]), 0.03]}


def _growth(exponent: float, folder: Path) -> Told:
    with _running(LateListingSmbd(exponent)) as smbd, patch.dict(SIZES, {Effort.QUICK: LONGER}):
        asked = ("--yes", "--quick", "--only", "folders", "--json")
        document = Inside(folder / "notebook.db", smbd.password).json("diagnose", format_target(smbd.target()), *asked)
    return {"exponent": [_figures(document)["growth_exponent"]["value"], exponent]}


def _prices(folder: Path) -> dict[str, Any]:
    """The stated intervals, and the logarithms of the reference's prices."""
    with _running(Smbd()) as smbd:
        stated = _figures(diagnosed(smbd, folder, "--only", "protection"))
        rates = defaultdict[str, list[float]](list)
        target, stop = smbd.target("reference"), threading.Event()
        # through smbd, as the diagnosis makes its own: the cache gives a file written otherwise a third more slowly
        with contextlib.closing(SMBClient(target, smbd.secrets(), Settings())) as client:
            client.connect()
            client.put(target.path, Content(64 * MIB), Meter(stop))
        for turn in range(REFERENCE_ROUNDS):
            order = list(MODES)
            for mode in order[turn % 3 :] + order[: turn % 3]:
                client = SMBClient(target, smbd.secrets(), MODES[mode])
                with contextlib.closing(client):
                    client.connect()
                    moved = client.get(target.path, Meter(stop))
                rates[mode].append(moved.size_bytes / moved.seconds)
    return {
        mode: {
            "stated": [stated[f"{mode}_percent"][end] for end in ("low", "high")],
            "logs": [math.log(mine / theirs) for mine, theirs in zip(rates["plain"], rates[mode], strict=True)],
        }
        for mode in ("signed", "encrypted")
    }


def _one_connection(folder: Path) -> Told:
    with contextlib.closing(Link("1gbit")) as link, _running(LateReadingSmbd(link=link)) as smbd:
        document = diagnosed(smbd, folder, "--only", "cards")
    return {"one-stream": [float("one-stream" in {one["key"] for one in document["findings"]})]}


def _slow_disk(folder: Path) -> Told:
    with slow_disk(60 * MIB, 4 * MIB) as disk, contextlib.closing(Link("160mbit", "1mb")) as link:
        if disk is None:
            raise RuntimeError("no disk of known speed can be made here")
        with _running(Smbd(share_options={"path": str(disk)}, link=link)) as smbd:
            document = diagnosed(smbd, folder, "--only", "long-run")
    is_named = "fast-then-slow" in {finding["key"] for finding in document["findings"]}
    figures = _figures(document)
    key = "after_bytes_per_second"
    rate_after = figures[key]["value"] if key in figures else 0.0
    return {"fast-then-slow": [float(is_named)], "rate after": [rate_after, 4.0 * MIB]}


KINDS: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "prices": _prices,
    **{f"{1000 * seconds:g} ms away": partial(_distance, seconds) for seconds in (0.05, 0.15)},
    "late name": _late_name,
    "late share": _late_share,
    "late open": _late_open,
    **{f"exponent {exponent:g}": partial(_growth, exponent) for exponent in (1.0, 1.3, 1.6)},
    "one connection": _one_connection,
    "slow disk": _slow_disk,
}
"""By name, what makes the truth and asks a diagnosis for it."""


def is_right(name: str, stated: list[float]) -> bool:
    """Whether what is stated is its truth, or near it; a name that is alone is right where it was named (1)."""
    if len(stated) == 1:
        return bool(stated[0])
    value, truth = stated
    return abs(value - truth) <= (EXPONENT if name == "exponent" else PERCENT / 100 * truth)


def reference_price(logs: list[float]) -> tuple[float, float, float]:
    """The mean price in percent of these interleaved pairs, and from where to where it is known (two errors)."""
    mean = statistics.fmean(logs)
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    price, low, high = (100 * (1 - math.exp(-log)) for log in (mean, mean - 2 * error, mean + 2 * error))
    return price, low, high


def _check_prices(figures: Figures, told: list[dict[str, Any]]) -> None:
    """Each stated interval against the mean of all references."""
    for mode in ("signed", "encrypted"):
        logs = [log for case in told for log in case[mode]["logs"]]
        reference, _, _ = reference_price(logs)
        missed = sum(not low <= reference <= high for low, high in (case[mode]["stated"] for case in told))
        figures.check(
            f"price, {mode}", holds=missed <= MOST_MISSED,
            told=f"{len(told) - missed} of {len(told)} intervals hold {reference:.1f} % ({len(logs)} pairs)",
        )  # fmt: skip


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """All kinds in turn, until ``seconds`` are over."""
    share, clock = share or Share(), Clock(seconds)
    wanted = {kind: PRICES if kind == "prices" else TIMES for kind in KINDS}
    cases = [(kind, number) for number in range(PRICES) for kind in KINDS if number < wanted[kind]]
    for kind, number in share.of_mine(cases):
        case = f"{kind} {number}"
        if share.has(case) or (clock.is_over() and share.told):
            continue
        with tempfile.TemporaryDirectory(prefix="accuracy-") as folder:
            told = KINDS[kind](Path(folder))
        found = Figures()
        if kind != "prices":
            for name, stated in told.items():
                found.counts[f"{kind}, {name}, {'right' if is_right(name, stated) else 'wrong'}"] += 1
            print(f"    {kind}: {told}", flush=True)
        share.note(case, found, told)
    figures = share.figures
    for kind in KINDS:
        cases_told = [told for case, told in share.told.items() if case.rpartition(" ")[0] == kind]
        if kind == "prices":
            if cases_told:
                _check_prices(figures, cases_told)
            continue
        for name in cases_told[0] if cases_told else ():
            right, wrong = (figures.counts[f"{kind}, {name}, {how}"] for how in ("right", "wrong"))
            worst = max((told[name] for told in cases_told), key=lambda each: abs(each[0] - each[-1]))
            figures.check(f"{kind}, {name}", holds=not wrong, told=f"{right} of {right + wrong} right, worst {worst}")
    return figures
