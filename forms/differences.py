"""What differs between two series: their choices, what was negotiated, and the facts of their environments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from forms import wording
from storage.records import JSONValue, Series

_VARYING = re.compile(
    r"(load|uptime|time|count|counter|errors|drops|dropped|packets|retrans|free|available|used|address|pid)"
)
"""Names of facts that differ from one minute to the next without anybody's doing."""

_COUNTING = frozenset({"runs", "warmups", "until_percent", "max_runs", "verify", "settings"})
"""Choices of a plan that say how often to measure, not what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One setting or fact in which two series differ; None where a series does not have it."""

    name: str
    base: JSONValue
    other: JSONValue


def differences(base: Series, other: Series) -> tuple[Difference, ...]:
    """All settings and environment facts that differ, the choices first, facts by place and name."""
    left, right = _traits(base), _traits(other)
    names = [*left, *(name for name in right if name not in left)]
    return tuple(
        Difference(name=name, base=left.get(name), other=right.get(name))
        for name in names
        if left.get(name) != right.get(name)
    )


def _traits(series: Series) -> dict[str, JSONValue]:
    sizes = sorted({run.size_bytes for run in series.measured()})
    traits: dict[str, JSONValue] = {
        "command": series.command.value,
        "target": wording.place(series.target),
        "size_bytes": sizes[0] if len(sizes) == 1 else ", ".join(map(str, sizes)) or None,
        "link_bits_per_second": series.link_bits_per_second,
    }
    traits.update({f"client.{name}": value for name, value in asdict(series.client).items()})
    settings = series.plan.get("settings")
    if isinstance(settings, Mapping):
        traits.update({f"settings.{name}": value for name, value in settings.items()})
    for place, facts in series.environment.items():
        traits.update({f"{place}.{name}": value for name, value in facts.items() if not _VARYING.search(name.lower())})
    return traits
