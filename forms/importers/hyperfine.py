"""hyperfine's JSON: each command it timed becomes a series, each of its times a run."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from storage.json_reader import AboveZero, DocumentError, JSONNode
from storage.plan import Plan
from storage.records import (
    ClientFacts,
    Command,
    Phase,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
    new_series_id,
    utc_now,
)


def is_hyperfine(document: object) -> bool:
    """Whether a JSON document is what ``hyperfine --export-json`` writes."""
    results = document.get("results") if isinstance(document, dict) else None
    return isinstance(results, list) and all(isinstance(r, dict) and "command" in r for r in results)


def series_from_hyperfine(
    document: Any,
    *,
    command: Command,
    target: Target | None,
    size_bytes: int | None,
    link_bits_per_second: int | None,
) -> list[Series]:
    """The series of a document. Raises DocumentError, also where the size is not given, which hyperfine never knows."""
    if size_bytes is None:
        raise DocumentError("hyperfine does not record how much was transferred: say it with --size")
    results = JSONNode("", document).object().at("results").items()
    if not results:
        raise DocumentError("results: expected at least one")
    return [_series(place, command, target, size_bytes, link_bits_per_second) for place in results]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """One command that hyperfine timed."""

    command: str
    times: tuple[AboveZero, ...]
    exit_codes: tuple[int | None, ...] = ()
    """None for a command that was killed."""
    parameters: Annotated[dict[str, object], JSONNode.object_or_empty] = field(default_factory=dict)


def _series(
    place: JSONNode, command: Command, target: Target | None, size_bytes: int, link_bits_per_second: int | None
) -> Series:
    result = place.record(_Result)
    if not result.times:
        raise DocumentError(f"{place.name}.times: expected at least one; was it exported with --export-json?")
    codes = result.exit_codes or (0,) * len(result.times)
    if len(codes) != len(result.times):
        raise DocumentError(f"{place.name}.exit_codes: expected as many as times")
    return Series(
        id=new_series_id(),
        created_at=utc_now(),
        status=SeriesStatus.COMPLETE,
        title="Timed by hyperfine",
        label=result.command,
        note=", ".join(f"{name} = {value}" for name, value in result.parameters.items()),
        command=command,
        target=target or Target(protocol="file"),
        client=ClientFacts(name="hyperfine"),
        link_bits_per_second=link_bits_per_second,
        plan=Plan(runs=len(result.times), warmups=0),
        runs=tuple(
            _run(number, *timed, size_bytes)
            for number, timed in enumerate(zip(result.times, codes, strict=True), start=1)
        ),
    )


def _run(number: int, seconds: float, code: int | None, size_bytes: int) -> Run:
    run = Run(number=number, phase=Phase.MEASURED, size_bytes=size_bytes, seconds=seconds)
    if code == 0:
        return run
    how = "was killed" if code is None else f"ended with exit code {code}"
    return replace(run, status=RunStatus.FAILED, seconds=None, error=f"the command {how}")
