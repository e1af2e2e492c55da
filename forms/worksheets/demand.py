"""What a client asks for, by its kind of work (Using Samba, appendix B): to begin with, where nothing is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from forms.worksheets.reference import OPERATION_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One kind of work."""

    transfers_per_second: float
    file_bytes: int
    what: str


DEMANDS: Mapping[str, Demand] = MappingProxyType(
    {
        "office": Demand(
            transfers_per_second=1, file_bytes=OPERATION_BYTES, what="an office PC: one operation a second"
        ),
        "workstation": Demand(
            transfers_per_second=4, file_bytes=OPERATION_BYTES, what="a fast workstation: four operations a second"
        ),
        "compiling": Demand(
            transfers_per_second=1, file_bytes=3_500_000, what="a workstation that compiles: 3 to 4 MB a second"
        ),
        "imaging": Demand(transfers_per_second=1, file_bytes=10_000_000, what="an imaging station: 10 MB a second"),
    }
)
"""By the name that is typed."""
