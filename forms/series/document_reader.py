"""Series documents read back into series: refused whole, with the first place that is wrong."""

from __future__ import annotations

from dataclasses import replace

from forms.series.document import SCHEMA
from storage.json_reader import DocumentError, JSONNode
from storage.plan import Plan, plan_from_json
from storage.quiet import quiet_from_json
from storage.records import (
    Change,
    ClientFacts,
    Command,
    Decision,
    Evidence,
    FactValue,
    Phase,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
)


def series_from_document(document: object) -> Series:
    """The series that a document describes; averages are not read but computed again. Raises DocumentError."""
    top = JSONNode("", document).object()
    if top.value.get("schema") != SCHEMA:
        raise top.maybe("schema").wrong(f'"{SCHEMA}"')
    target = top.at("target").object()
    client = top.at("client").object()
    environment = top.maybe("environment")
    return Series(
        id=top.at("id").text(filled=True),
        created_at=top.at("created_at").time(),
        status=top.at("status").one_of(SeriesStatus),
        error=top.maybe("error").text_or_none(),
        title=top.maybe("title").text_or_none() or "",
        label=top.maybe("label").text_or_none() or "",
        note=top.maybe("note").text_or_none() or "",
        experiment=top.maybe("experiment").text_or_none(),
        base_id=top.maybe("base_id").text_or_none(),
        decision=top.maybe("decision").one_of(Decision) if top.value.get("decision") is not None else None,
        change=_change_from(top.maybe("change")),
        command=top.at("command").one_of(Command),
        target=Target(
            protocol=target.at("protocol").text(filled=True),
            host=target.maybe("host").text_or_none() or "",
            port=target.maybe("port").whole_or_none(),
            share=target.maybe("share").text_or_none(),
            path=target.maybe("path").text_or_none() or "",
            user=target.maybe("user").text_or_none(),
            domain=target.maybe("domain").text_or_none(),
        ),
        client=ClientFacts(
            name=client.at("name").text(filled=True),
            version=client.maybe("version").text_or_none() or "",
            dialect=client.maybe("dialect").text_or_none(),
            signing=client.maybe("signing").text_or_none(),
            encryption=client.maybe("encryption").text_or_none(),
            block_bytes=client.maybe("block_bytes").whole_or_none(),
            in_flight=client.maybe("in_flight").whole_or_none(),
        ),
        link_bits_per_second=top.maybe("link_bits_per_second").whole_or_none(),
        ceiling_bytes_per_second=top.maybe("ceiling_bytes_per_second").number_or_none(),
        plan=_plan_from(top.maybe("plan")),
        failed_attempts=_attempts_from(top.maybe("failed_attempts")),
        resumed_at=tuple(item.time() for item in top.maybe("resumed_at").items()),
        quiet=quiet_from_json(top.maybe("quiet")),
        environment={} if environment.value is None else _environment_from(environment),
        runs=_runs_from(top.at("runs")),
    )


def _plan_from(place: JSONNode) -> Plan | None:
    """The plan of a document; what would read files or log in from here is left out."""
    plan = plan_from_json(place)
    return plan and replace(plan, server_ssh=None, smb_conf=None)


def _attempts_from(place: JSONNode) -> tuple[Run, ...]:
    return tuple(replace(_run_from(item.object()), status=RunStatus.FAILED) for item in place.items())


def _change_from(place: JSONNode) -> Change | None:
    if place.value is None:
        return None
    change = place.object()
    evidence = change.maybe("evidence")
    return Change(
        name=change.at("name").text(filled=True),
        value=change.at("value").text(),
        previous=change.maybe("previous").text_or_none(),
        evidence=Evidence.UNCONFIRMED if evidence.value is None else evidence.one_of(Evidence),
        also_changed=tuple(item.text() for item in change.maybe("also_changed").items()),
        remark=change.maybe("remark").text_or_none(),
    )


def _environment_from(place: JSONNode) -> dict[str, dict[str, FactValue]]:
    found: dict[str, dict[str, FactValue]] = {}
    sides = place.object()
    for side in ("client", "server", "path"):
        facts = sides.maybe(side).object_or_empty()
        for name, value in facts.items():
            if not isinstance(value, str | int | float):
                raise DocumentError(f"environment.{side}.{name}: expected text or a number")
        if facts:
            found[side] = facts
    return found


def _runs_from(place: JSONNode) -> tuple[Run, ...]:
    runs: list[Run] = []
    seen: set[tuple[Phase, int]] = set()
    for item in place.items():
        run = _run_from(item.object())
        if (run.phase, run.number) in seen:
            raise DocumentError(f"{item.name}: a second {run.phase.value} run {run.number}")
        seen.add((run.phase, run.number))
        if run.status is not RunStatus.FAILED and not (run.seconds and run.seconds > 0):
            raise DocumentError(f"{item.name}.seconds: expected a number above 0")
        if run.status is not RunStatus.FAILED and not run.size_bytes:
            raise DocumentError(f"{item.name}.size_bytes: expected a whole number of at least 1")
        runs.append(run)
    return tuple(runs)


def _run_from(row: JSONNode) -> Run:
    return Run(
        number=row.at("number").whole(at_least=1),
        phase=row.at("phase").one_of(Phase),
        status=row.at("status").one_of(RunStatus),
        reason=row.maybe("reason").text_or_none(),
        started_at=row.at("started_at").time() if row.maybe("started_at").text_or_none() else "",
        size_bytes=row.at("size_bytes").whole(at_least=0),
        seconds=row.maybe("seconds").number_or_none(),
        open_seconds=row.maybe("open_seconds").number_or_none(),
        close_seconds=row.maybe("close_seconds").number_or_none(),
        error=row.maybe("error").text_or_none(),
        progress=tuple(_sample(sample) for sample in row.maybe("progress").items()),
    )


def _sample(place: JSONNode) -> tuple[float, int]:
    pair = place.items()
    if len(pair) != 2:
        raise DocumentError(f"{place.name}: expected [seconds, bytes]")
    return pair[0].number(), pair[1].whole(at_least=0)
