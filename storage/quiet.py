"""Quiet time as kept with a series: verdict, reasons, figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from storage.json_reader import JSONNode


class QuietVerdict(StrEnum):
    """How quiet a time was."""

    QUIET = "quiet"
    TYPICAL = "typical"
    BUSY = "busy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Whether others were at work before and during a series."""

    verdict: QuietVerdict
    reasons: tuple[str, ...] = ()
    figures: Mapping[str, float | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict.value, "reasons": list(self.reasons), **self.figures}


def quiet_from_json(place: JSONNode) -> Quiet | None:
    """The value of :meth:`Quiet.to_json`, None for none. Raises DocumentError."""
    if not place.object_or_empty() or place.value == {"verdict": QuietVerdict.UNKNOWN}:
        return None
    verdict = place.maybe("verdict")
    return Quiet(
        verdict=QuietVerdict.UNKNOWN if verdict.value is None else verdict.one_of(QuietVerdict),
        reasons=tuple(reason.text() for reason in place.maybe("reasons").items()),
        figures={name: place.at(name).read(float | None) for name in place.value if name not in {"verdict", "reasons"}},
    )
