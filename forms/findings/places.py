"""What the forms of several machines that measured one target have in common."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forms import wording
from storage.records import Target, format_target

_LEAST_WITH_ONE_DECIMAL = 10.0
"""MB/s: what is less, as of single small requests through a slow link, has two."""


def places_document(
    schema: str,
    target: Target,
    answer: str,
    places: Sequence[Mapping[str, Any]],
    *,
    slow_host: str | None,
    fastest_host: str | None,
) -> dict[str, Any]:
    """``slow_host``: None where no machine is shown to be slow; ``fastest_host``: None where none measured."""
    return {
        "schema": schema,
        "target": format_target(target),
        "answer": answer,
        "slow_leg": slow_host,
        "fastest": fastest_host,
        "places": list(places),
    }


def show_each(id_by_host: Mapping[str, str]) -> Iterator[str]:
    """The commands that show what each machine recorded, as an advice; none where nothing was."""
    commands = [f"`sharebench show {recording_id}` ({host})" for host, recording_id in id_by_host.items()]
    if commands:
        yield f"All of one machine: {', '.join(commands)}"


def megabytes_text(bytes_per_second: float | None) -> str:
    """In MB/s, with two decimals where it is little; empty where nothing was measured."""
    megabytes = wording.megabytes(bytes_per_second)
    if megabytes is None:
        return ""
    return f"{megabytes:,.1f}" if megabytes >= _LEAST_WITH_ONE_DECIMAL else f"{megabytes:.2f}"
