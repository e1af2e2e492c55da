"""``python -m tests.reliability [CAMPAIGN …] [--seconds N]``: the long form of the campaigns, with their figures.

A campaign made of cases takes ``--part 2/10`` of them, and with ``--results FOLDER`` writes each as it is done, so that
it can be interrupted and resumed.
``numbers`` and ``trial nothing`` have options of their own: see ``python -m tests.reliability numbers --help``.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import time
from pathlib import Path

from tests.reliability.figures import Campaign, Figures, Share

CAMPAIGNS = {
    "documents": "tests.reliability.documents",
    "spreadsheets": "tests.reliability.spreadsheets",
    "configurations": "tests.reliability.configurations",
    "network": "tests.reliability.network",
    "fuzz": "tests.reliability.fuzz",
    "crash": "tests.reliability.crash",
    "storage": "tests.reliability.storage",
    "held": "tests.reliability.held",
    "secrets": "tests.reliability.secret_marker",
    "hostile": "tests.reliability.hostile",
    "server": "tests.reliability.server",
    "scale": "tests.reliability.scale",
    "changes": "tests.reliability.changes",
    "steps": "tests.reliability.steps",
    "trial": "tests.reliability.trial",
    "load": "tests.reliability.load",
    "isolation": "tests.reliability.isolation",
    "numbers": "tests.reliability.numbers",
    "printing": "tests.reliability.printing",
    "kills": "tests.reliability.kills",
    "intruder": "tests.reliability.intruder",
    "peers": "tests.reliability.peers",
    "litter": "tests.reliability.litter",
    "evil": "tests.reliability.evil",
    "sharing": "tests.reliability.sharing",
    "received": "tests.reliability.received",
    "pairs": "tests.reliability.pairs",
    "versus": "tests.reliability.versus",
    "who": "tests.reliability.who",
    "random": "tests.reliability.random_requests",
    "diagnosis": "tests.reliability.diagnosis",
    "blame": "tests.reliability.blame",
    "accuracy": "tests.reliability.accuracy",
    "evidence": "tests.reliability.evidence",
    "servers": "tests.reliability.servers",
}
"""By name, the module whose ``campaign`` it is; to add one, write the module and name it here."""
DEFAULT_SECONDS = 300.0
LONGER_SECONDS = {
    "network": 600.0, "fuzz": 900.0, "crash": 450.0, "trial": 450.0, "steps": 1800.0, "sharing": 3600.0, "held": 1800.0,
    "pairs": 3600.0, "versus": 3600.0, "diagnosis": 5400.0, "blame": 7200.0, "accuracy": 7200.0, "litter": 1800.0,
    "evidence": 3600.0, "evil": 7200.0, "servers": 3600.0, "who": 600.0,
}  # fmt: skip
"""What these need, on two processors, for each message once, 100,000 inputs a reader, 200 kills and losses of power."""


def campaign(name: str) -> Campaign:
    """The campaign of that name; loaded when it is run, since some need servers."""
    found: Campaign = importlib.import_module(CAMPAIGNS[name]).campaign
    return found


def _carried_out(name: str, seconds: float, part: str, results: Path | None) -> Figures:
    carry_out = campaign(name)
    if "share" not in inspect.signature(carry_out).parameters:
        return carry_out(seconds)
    number, _, of = part.partition("/")
    return carry_out(seconds, share=Share(int(number), int(of), results and results / f"{name}-{number}-{of}.jsonl"))


def main() -> int:
    """Run the campaigns one after the other; 1 if any of them lost something."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability")
    parser.add_argument("names", nargs="*", metavar="CAMPAIGN", help=f"any of {', '.join(CAMPAIGNS)}; all of them")
    parser.add_argument("--seconds", type=float, help=f"how long each may take ({DEFAULT_SECONDS:g}, some longer)")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="the I-th of N parts of the cases")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where each case is written, and not done again")
    if sys.argv[1:3] == ["trial", "nothing"]:
        return int(importlib.import_module(CAMPAIGNS["trial"]).main(sys.argv[3:]))
    if sys.argv[1:2] == ["numbers"]:
        return int(importlib.import_module(CAMPAIGNS["numbers"]).main(sys.argv[2:]))
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(CAMPAIGNS):
        parser.error(f"no campaign {', '.join(sorted(unknown))}; there are {', '.join(CAMPAIGNS)}")
    lost = 0
    for name in asked.names or CAMPAIGNS:
        began = time.monotonic()
        seconds = asked.seconds or LONGER_SECONDS.get(name, DEFAULT_SECONDS)
        figures = _carried_out(name, seconds, asked.part, asked.results)
        print(f"{name}: {figures.text()} ({time.monotonic() - began:.0f} s)", flush=True)
        for loss in figures.losses:
            print(f"  LOST: {loss}")
        lost += len(figures.losses)
    print(f"{lost} losses")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
