"""hyperfine's JSON: each command it timed becomes a series, each of its times a run."""

from typing import Any

from storage.json_reader import DocumentError, JSONNode
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


def _series(
    place: JSONNode, command: Command, target: Target | None, size_bytes: int, link_bits_per_second: int | None
) -> Series:
    result = place.object()
    line = result.at("command").text()
    times = result.at("times").items()
    if not times:
        raise DocumentError(f"{place.name}.times: expected at least one; was it exported with --export-json?")
    codes = result.maybe("exit_codes").items()
    if codes and len(codes) != len(times):
        raise DocumentError(f"{place.name}.exit_codes: expected as many as times")
    return Series(
        id=new_series_id(),
        created_at=utc_now(),
        status=SeriesStatus.COMPLETE,
        title="Timed by hyperfine",
        label=line,
        note=_parameters(result),
        command=command,
        target=target or Target(protocol="file"),
        client=ClientFacts(name="hyperfine"),
        link_bits_per_second=link_bits_per_second,
        plan=Plan(runs=len(times), warmups=0),
        runs=tuple(
            _run(number, time, codes[number - 1] if codes else None, size_bytes)
            for number, time in enumerate(times, start=1)
        ),
    )


def _run(number: int, time: JSONNode, code: JSONNode | None, size_bytes: int) -> Run:
    seconds = time.number()
    if seconds <= 0:
        raise DocumentError(f"{time.name}: expected a number above 0")
    if code is not None and code.value != 0:
        how = "was killed" if code.value is None else f"ended with exit code {code.value}"
        return Run(
            number=number,
            phase=Phase.MEASURED,
            status=RunStatus.FAILED,
            size_bytes=size_bytes,
            error=f"the command {how}",
        )
    return Run(number=number, phase=Phase.MEASURED, size_bytes=size_bytes, seconds=seconds)


def _parameters(result: JSONNode) -> str:
    parameters = result.maybe("parameters").object_or_empty()
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())
