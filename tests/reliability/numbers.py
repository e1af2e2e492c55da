"""Claims of the product against truth that is known from outside: links, distances, stops and limits that are made.

``python -m tests.reliability numbers [CHECK …]`` prints claim, truth and product of each check side by side. Each
result is written to ``--results`` as soon as it is there, and a check whose result is there is skipped, so that a run
that was ended is resumed; a check that could not be carried out has no result. ``--part 2/10`` takes the second of ten
parts, ``--burners 2`` carries each out beside two busy loops. A check is a row of ``CHECKS``: to add one, write its
function.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.command_line import ROOT, Sharebench
from tests.reliability import accuracy, diagnosis, hiccups, isolation, load
from tests.reliability.figures import Clock, Figures
from tests.servers.distance import FarLink
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

RESULTS = Path(tempfile.gettempdir()) / "sharebench-numbers.jsonl"
WINDOW_SECONDS = 10.0
DISTANCE_PERCENT, OWN_SECONDS = 5.0, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a check found."""

    truth: str
    product: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One claim, and how it is held against truth."""

    claim: str
    find: Callable[[], Result]


def round_trip(seconds: float) -> Result:
    """The round trip on the form, over a link of known distance."""
    with ExitStack() as stack:
        link = FarLink(seconds)
        stack.callback(link.close)
        server = Smbd(link=link)
        stack.callback(server.stop)
        server.start()
        server.make_file("far.bin", bytes(1 << 20))
        notebook = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sharebench-numbers-"))) / "n.db"
        url = f"smb://{server.user}@{server.host}:{server.port}/{server.share}/far.bin"
        quick = ("--runs", "2", "--warmup", "1", "--quiet-time", "skip", "--ceiling", "skip", "--json")
        path = Sharebench(notebook, server.password).json("run", url, *quick)["environment"]["path"]
    names = ("tcp.least_round_trip_seconds", "request.least_round_trip_seconds")
    found = {name: path[name] for name in names if path.get(name)}
    known = len(found) == len(names)  # a request takes the server's own time too
    holds = known and abs(found[names[0]] / seconds - 1) <= DISTANCE_PERCENT / 100
    holds = holds and 0.97 * seconds <= found[names[1]] <= seconds + OWN_SECONDS
    told = ", ".join(f"{name} {1000 * each:.1f} ms" for name, each in found.items())
    return Result(truth=f"{1000 * seconds:g} ms", product=told or "none", holds=holds)


def hiccup(find: Callable[[], tuple[str, str, bool]]) -> Result:
    """One of :mod:`tests.reliability.hiccups`."""
    truth, product, holds = find()
    return Result(truth=truth, product=product, holds=holds)


def isolated(rig: str) -> Result:
    """What an isolation names at a server whose bottleneck is made."""
    figures = isolation.repeated([rig], lambda times: times >= 1)
    right = ", ".join(sorted(isolation.RIGS[rig][1]))
    told = "; ".join(figures.losses) or figures.text()
    return Result(
        truth=right if rig != "healthy" else "neither disk nor network", product=told, holds=not figures.losses
    )


def loaded(part: Callable[[Figures, float], None]) -> Result:
    """A part of the campaign of loads: counters of smbd, a full link, limits that are made."""
    figures = Figures()
    part(figures, WINDOW_SECONDS)
    told = "; ".join(figures.losses) or f"{figures.counts['held']} of {figures.counts['criteria']} criteria held"
    return Result(truth=(part.__doc__ or "").strip(), product=told, holds=not figures.losses)


def diagnosed(kind: str) -> Result:
    """What a diagnosis states of a distance, a disk or a connection that is made; a name is stated as 1."""
    with tempfile.TemporaryDirectory(prefix="sharebench-numbers-") as folder:
        told: accuracy.Told = accuracy.KINDS[kind](Path(folder))
    truths = [f"{name} {values[-1] if len(values) > 1 else 1:.4g}" for name, values in told.items()]
    stated = [f"{name} {values[0]:.4g}" for name, values in told.items()]
    holds = all(accuracy.is_right(name, values) for name, values in told.items())
    return Result(truth=", ".join(truths), product=", ".join(stated), holds=holds)


def price(mode: str) -> Result:
    """The price of signing or encrypting in a diagnosis, against interleaved transfers of the same file."""
    with tempfile.TemporaryDirectory(prefix="sharebench-numbers-") as folder:
        told = accuracy.KINDS["prices"](Path(folder))[mode]
    reference, low, high = accuracy.reference_price(told["logs"])
    stated_low, stated_high = told["stated"]
    return Result(
        truth=f"{reference:.1f} % ({low:.1f} to {high:.1f})",
        product=f"{stated_low:.1f} to {stated_high:.1f} %",
        holds=stated_low <= high and low <= stated_high,
    )


def healthy(name: str) -> Result:
    """What a diagnosis of an unchanged smbd complains of."""
    complaints = diagnosis.complaints_of_healthy(name)
    return Result(truth="no fault", product="; ".join(complaints) or "no complaint", holds=not complaints)


def tested(module: str, name: str) -> Result:
    """A test that keeps a mutant, or evidence that was seen once."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", module, "-k", name]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=HANG_SECONDS)
    lines = done.stdout.strip().splitlines()
    return Result(truth="rejected", product=lines[-1] if lines else done.stderr[-200:], holds=done.returncode == 0)


CHECKS: Mapping[str, Check] = {
    **{
        f"round-trip-{milliseconds}ms": Check(
            claim="the round trip on the form is that of the path", find=partial(round_trip, milliseconds / 1000)
        )
        for milliseconds in (10, 50, 100)
    },
    "stopped-think": Check(
        claim="a stop is told although users pause", find=partial(hiccup, partial(hiccups.stopped_server, think="0.1"))
    ),
    "stopped-pace": Check(
        claim="a stop is told of a paced load", find=partial(hiccup, partial(hiccups.stopped_server, pace=0.1))
    ),
    "stopped-client-think": Check(
        claim="a stop of this machine is named", find=partial(hiccup, partial(hiccups.stopped_client, think="0.1"))
    ),
    "stopped-client-pace": Check(
        claim="a stop of this machine is named", find=partial(hiccup, partial(hiccups.stopped_client, pace=0.1))
    ),
    "stopped-series": Check(
        claim="a run in which this machine stood still is named", find=partial(hiccup, hiccups.stopped_series)
    ),
    **{
        f"load-beside-{count}": Check(
            claim="a load is judged beside other programs", find=partial(hiccup, partial(hiccups.beside_burners, count))
        )
        for count in (0, 1, 2)
    },
    **{
        f"capacity-beside-{count}": Check(
            claim="a capacity is found beside other programs", find=partial(hiccup, partial(hiccups.capacity, count))
        )
        for count in (0, 1)
    },
    "slow-disk": Check(
        claim="a disk that is slower than its memory is told by its rate", find=partial(diagnosed, "slow disk")
    ),
    "slow-connections": Check(
        claim="several connections that carry less than one are told", find=partial(diagnosed, "one connection")
    ),
    **{
        f"price-{mode}": Check(claim="the price of a protection has its interval", find=partial(price, mode))
        for mode in ("signed", "encrypted")
    },
    **{
        f"healthy{'-beside-' * bool(burners)}{burners or ''}": Check(
            claim="a healthy server gets no complaint", find=partial(healthy, name)
        )
        for name, burners in (("full", 0), ("full, beside one burner", 1), ("beside burners", 2))
    },
    "little-mutant": Check(
        claim="requests that vanish contradict the users",
        find=partial(tested, "tests/app/load/test_users.py", "vanish"),
    ),
    **{
        f"load-{part.__name__.replace('_', '-')}": Check(claim="a load's numbers are true", find=partial(loaded, part))
        for part in load.PARTS
    },
    **{
        f"isolate-{rig}": Check(claim="an isolation names what is made the bottleneck", find=partial(isolated, rig))
        for rig in isolation.RIGS
    },
}
"""By name; rows of other subjects stand here too."""


def never() -> bool:
    """That there is time left, always."""
    return False


def run_checks(names: list[str], results: Path, *, burners: int = 0, is_over: Callable[[], bool] = never) -> Figures:
    """The checks of those names that have no result yet, each written and printed as soon as it is there.

    Each is carried out beside so many programs that use a processor each. The results of a machine that does nothing
    else and of one that does are apart.
    """
    figures = Figures()
    circumstance = f" beside {burners} busy loops" if burners else ""
    known = {json.loads(line)["check"] for line in results.read_text().splitlines()} if results.exists() else set()
    for name in names:
        title = name + circumstance
        if title in known:
            print(f"  {title}: its result is in {results}", flush=True)
            continue

        check = CHECKS[name]
        began = time.monotonic()
        try:
            with hiccups.burners(burners):
                result = check.find()
        except Exception as error:  # made again when the campaign is resumed
            figures.check(f"{title}: {check.claim}", holds=False, told=f"{type(error).__name__}: {error}")
            continue

        seconds = time.monotonic() - began
        figures.took(seconds)
        row = {"check": title, "claim": check.claim, **asdict(result), "seconds": round(seconds, 1)}
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        figures.check(
            f"{title}: {check.claim}", holds=result.holds, told=f"truth: {result.truth}; product: {result.product}"
        )
        if is_over():
            break
    return figures


def part_of(names: list[str], part: str) -> list[str]:
    """The names of ``2/10``: every tenth, from the second on."""
    number, _, of = part.partition("/")
    if not number.isdecimal() or not of.isdecimal() or not 1 <= int(number) <= int(of):
        raise SystemExit(f"--part {part}: expected such as 2/10")
    return names[int(number) - 1 :: int(of)]


def campaign(seconds: float) -> Figures:
    """The checks in their order, as many as there is time for, and one at least."""
    clock = Clock(seconds)
    with tempfile.TemporaryDirectory(prefix="sharebench-numbers-") as folder:
        return run_checks(list(CHECKS), Path(folder) / "results.jsonl", is_over=clock.is_over)


def main(words: list[str]) -> int:
    """Run checks; 1 where one of them does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability numbers", description=__doc__)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"any of {', '.join(CHECKS)}; all of them")
    parser.add_argument("--part", default="1/1", help="such as 2/10: the second of ten parts")
    parser.add_argument(
        "--burners", type=int, default=0, metavar="N", help="beside N programs that use a processor each"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"where results are kept ({RESULTS})")
    asked = parser.parse_args(words)
    if unknown := set(asked.checks) - set(CHECKS):
        parser.error(f"no check {', '.join(sorted(unknown))}; there are {', '.join(CHECKS)}")
    figures = run_checks(part_of(asked.checks or list(CHECKS), asked.part), asked.results, burners=asked.burners)
    print(figures.text())
    return 1 if figures.losses else 0
