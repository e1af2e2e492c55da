"""One finding with evidence and recommendation, on paper and as JSON."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any

from forms import wording
from forms.layout import Sign
from forms.report import Report, Table, columns_of, fields_of, row_of
from forms.tuning.smb_conf import toml_data
from storage.json_reader import named
from storage.records import Command, Facts, QuietVerdict, Series, Target

FAR_SECONDS = 0.005


TCP_ROUND_TRIP, REQUEST_ROUND_TRIP = "tcp.least_round_trip_seconds", "request.least_round_trip_seconds"
PRACTICE = "practice"
PRACTICE_BYTES_PER_SECOND = 20_000_000
"""What the practice servers are limited to: little enough for two of them on a busy machine."""


class Severity(StrEnum):
    """How much a finding matters, the gravest first."""

    PROBLEM = "problem"
    WARNING = "warning"
    NOTE = "note"
    GOOD = "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    key: str
    severity: Severity = Severity.WARNING
    title: str
    evidence: str = ""
    what_to_do: str = ""
    series_ids: tuple[str, ...] = ()
    options: str = ""
    command: str = ""
    """A whole one, in place of ``options`` for the same command again."""
    cost: float | None = None
    """The share of the waiting time in its situation that would go, 0 to 1; None where it is not measured."""
    sure: str = ""
    setting: str = ""
    """``NAME=VALUE`` that ``try`` can test."""

    @property
    def is_wrong(self) -> bool:
        return self.severity in {Severity.PROBLEM, Severity.WARNING}

    @property
    def text(self) -> str:
        return f"{self.title}: {self.evidence} {self.what_to_do}" if self.evidence else self.title


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    severities = list(Severity)
    return sorted(findings, key=lambda finding: severities.index(finding.severity))


def first_to_look_at(findings: Iterable[Finding]) -> Finding | None:
    return next((finding for finding in findings if finding.severity is not Severity.GOOD), None)


@cache
def texts_of(name: str, file: str) -> dict[str, str]:
    """The texts of ``KEY`` or ``KEY.VARIANT`` in a file of ``data``."""
    key, _, variant = name.partition(".")
    entry = toml_data(file, package="forms.findings")[key]
    texts = (entry | entry.get(variant, {})).items()
    return {field: " ".join(text.split()) for field, text in texts if isinstance(text, str)}


def said(file: str, name: str, /, *series: Series, **words: object) -> Finding:
    """The finding of that name in a file of ``data``, with words for its places; ``{called}`` is the first series."""
    first = {"called": called(series[0])} if series else {}
    texts: dict[str, Any] = {field: text.format(**first, **words) for field, text in texts_of(name, file).items()}
    texts["severity"] = Severity(texts.get("severity", Severity.WARNING))
    return Finding(**{"key": name.partition(".")[0], "series_ids": tuple(one.id for one in series), **texts})


say = partial(said, "findings.toml")


def called(series: Series) -> str:
    return f"{series.command} {'from' if series.command is Command.GET else 'to'} {wording.place(series.target)}"


def round_trip_seconds(series: Series) -> float | None:
    """The least round trip to the server, by requests where TCP is relayed; None where unknown."""
    return request_seconds(series) if is_relayed(series) else number(series.environment.get("path", {}), TCP_ROUND_TRIP)


def request_seconds(series: Series) -> float | None:
    return number(series.environment.get("path", {}), REQUEST_ROUND_TRIP)


_BUSY_TIMES = 4


def is_relayed(series: Series) -> bool:
    """Whether requests take so much longer than TCP's round trip that TCP must end before the server."""
    by_tcp, by_request = number(series.environment.get("path", {}), TCP_ROUND_TRIP), request_seconds(series)
    busy_here = is_loopback(series) and series.quiet_verdict is QuietVerdict.BUSY  # which slows requests as well
    least = FAR_SECONDS * (_BUSY_TIMES if busy_here else 1)
    return by_tcp is not None and by_request is not None and by_request - by_tcp >= least


def number(facts: Facts, name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else None


def is_far(series: Series) -> bool:
    return (round_trip_seconds(series) or 0.0) >= FAR_SECONDS


def is_wireless(series: Series) -> bool:
    return series.environment.get("path", {}).get("link.kind") == "wireless"


def is_loopback(series: Series) -> bool:
    kind = series.environment.get("path", {}).get("link.kind")
    return is_loopback_address(series.target.host) if kind is None else kind == "loopback"


def is_practice(series: Series) -> bool:
    return bool(practice_text(series.target))


def practice_text(target: Target) -> str:
    practice = target.user == PRACTICE and is_loopback_address(target.host)
    return f"practice server, limited to {wording.byte_rate(PRACTICE_BYTES_PER_SECOND)}" if practice else ""


def is_loopback_address(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


SCHEMA = "sharebench/findings/1"


def finding_document(finding: Finding) -> dict[str, Any]:
    return named(finding, "key", "severity", "title", "evidence", "what_to_do") | {"series": list(finding.series_ids)}


SIGNS = {
    Severity.PROBLEM: Sign.BAD,
    Severity.WARNING: Sign.WARNING,
    Severity.NOTE: Sign.ADVICE,
    Severity.GOOD: Sign.GOOD,
}
FORM = "findings"
TITLE = "Findings"
NO_FINDINGS = "No findings: nothing measured so far speaks for or against this set-up."


def findings_report(found: Sequence[Finding]) -> Report:
    answer = ((wording.ANSWER, f"{one.title}. {one.what_to_do}", SIGNS[one.severity].tone) for one in found[:1])
    return Report(
        form=FORM,
        title=TITLE,
        name=TITLE,
        fields=fields_of(*answer),
        tables=(findings_table(found, ""),),
        document=lambda: {"schema": SCHEMA, "findings": [finding_document(finding) for finding in found]},
    )


def findings_table(found: Sequence[Finding], caption: str = TITLE) -> Table:
    rows = []
    for one in found:
        sign, sure = SIGNS[one.severity], f" How sure: {one.sure}." if one.sure else ""
        test = f' Test it: sharebench try "{one.setting}" TARGET' if one.setting else ""
        rows.append(row_of(f"{sign} {one.title}", one.evidence + sure, one.what_to_do + test, tone=sign.tone))
    rows = rows or [row_of(NO_FINDINGS, "", "")]
    columns = columns_of("Finding", "Evidence", "What to do")
    return Table(columns=columns, rows=tuple(rows), caption=caption, sentences=True)
