"""The traffic shaper on an interface, if there is one: on a virtual link its rate is the link's real rate."""

import json
from dataclasses import dataclass
from typing import Any

from app.environment.host.procfs import run_text

_RATE_KEYS = {"tbf": "rate", "cake": "bandwidth", "netem": "rate"}
_SHAPING = {*_RATE_KEYS, "htb", "hfsc", "cbq"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaper:
    """A queueing discipline that holds traffic back on its way out."""

    kind: str
    """``tbf``, ``cake``, ``netem``, ``htb``, …"""
    bits_per_second: int | None
    """Absent where the rate is set per class or only delay is added."""


def find_shaper(interface: str) -> Shaper | None:
    """The shaper of an interface as ``tc`` shows it; None without one, or without ``tc``."""
    return parse_shaper(run_text("tc", "-j", "qdisc", "show", "dev", interface))


def parse_shaper(text: str | None) -> Shaper | None:
    """The slowest shaper in the output of ``tc -j qdisc show``, whose rates are in bytes per second."""
    try:
        disciplines: list[dict[str, Any]] = json.loads(text or "[]")
        found = [_shaper(one) for one in disciplines if one.get("kind") in _SHAPING]
    except (ValueError, AttributeError, TypeError):
        return None
    rated = [one for one in found if one.bits_per_second]
    return min(rated or found, key=lambda one: one.bits_per_second or 0, default=None)


def _shaper(discipline: dict[str, Any]) -> Shaper:
    kind = str(discipline["kind"])
    rate = discipline.get("options", {}).get(_RATE_KEYS.get(kind, ""))
    if isinstance(rate, dict):
        rate = rate.get("rate")
    return Shaper(kind=kind, bits_per_second=8 * rate if isinstance(rate, int) and rate > 0 else None)
