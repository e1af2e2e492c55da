"""Audits on paper and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

from forms import report
from forms.layout import Sign, Tone, Toned
from forms.tuning import fact_names
from forms.tuning.smb_values import words_of_value
from forms.tuning.values_in_effect import values_that_matter
from storage.looks import Audit, AuditFinding, AuditScope, Ruling

SCHEMA = "sharebench/audit/1"
SEVERITIES: Mapping[Ruling, str] = {
    Ruling.HARMFUL: "problem",
    Ruling.CONTRADICTORY: "warning",
    Ruling.RISKY: "warning",
    Ruling.MISPLACED: "warning",
    Ruling.WORTH_TRYING: "note",
    Ruling.USELESS: "note",
}
SIGNS: Mapping[Ruling, Sign] = {
    Ruling.HARMFUL: Sign.BAD,
    Ruling.CONTRADICTORY: Sign.WARNING,
    Ruling.RISKY: Sign.WARNING,
    Ruling.MISPLACED: Sign.WARNING,
    Ruling.WORTH_TRYING: Sign.ADVICE,
    Ruling.USELESS: Sign.USELESS,
}
COUNTED = (
    Ruling.HARMFUL,
    Ruling.CONTRADICTORY,
    Ruling.RISKY,
    Ruling.MISPLACED,
    Ruling.USELESS,
    Ruling.WORTH_TRYING,
)
"""The verdicts in the order in which the answer tells their numbers."""
_SCOPES = {
    AuditScope.SERVER: "The server's configuration and facts were read. Nothing was measured or changed.",
    AuditScope.FILE: "Only this file was read: the server's kernel, disks and sessions are unknown.",
    AuditScope.SESSION: (
        "Only what a session reveals was seen. With ssh to the server, add --server-ssh [USER@]HOST."
        " Without it, ask who administers it for the output of `testparm -s`, and audit that file: --smb-conf FILE."
    ),
}
_SETTINGS_SHOWN = 8
"""The first settings that matter are shown even where they are at their defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingExplanation:
    """A setting that fits what was measured of the server."""

    setting: AuditFinding
    fits: str
    """What it fits, after the setting's name."""
    measured: str
    """What it costs there, in sentences, in place of the price of the finding, which is of another server."""
    what_to_do: str
    """In place of the advice of the finding, which knows nothing of the measurement."""
    act: str
    """The same in one short sentence, for the answer."""


def audit_document(audit: Audit) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **asdict(audit),
        "findings": [finding_document(finding) for finding in audit.findings],
        "counts": {verdict.value: audit.count(verdict) for verdict in Ruling},
    }


def finding_document(finding: AuditFinding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    return {
        "severity": SEVERITIES[finding.verdict],
        "title": f"{finding.setting} = {finding.value}" if finding.value else finding.setting,
        "evidence": " ".join(text for text in (finding.why, finding.price) if text),
        **asdict(finding),
    }


def audit_answer(audit: Audit) -> str:
    """What was not read, and the number of findings of each verdict, in a sentence."""
    numbers = {verdict: audit.count(verdict) for verdict in COUNTED}
    counts = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number)
    parts = [counts] if counts else []
    if audit.unread:
        parts.insert(0, "not all settings were read")
    if audit.scope is AuditScope.SESSION:
        parts.append("the server's settings were not read")

    # What keeps users out need not be a setting that is judged.
    if not parts and audit.had_no_session:
        parts.append("nothing harmful in the settings that were read, and no session was possible")

    answer = "; ".join(parts) or "no problems found"
    return f"{answer[0].upper()}{answer[1:]}."


def audit_line(audit: Audit) -> str:
    """The answer in a list of recordings: with the gravest of the settings that are counted."""
    answer = audit_answer(audit)
    counted = [finding for finding in audit.findings if finding.verdict in COUNTED]
    gravest = min(counted, key=_place_of_verdict, default=None)
    if gravest is None:
        return answer
    section = f"[{gravest.section}] " if gravest.section else ""
    first = "" if len(counted) == 1 else "first "
    return f"{answer.removesuffix('.')}: {first}{section}{setting_text(gravest)}."


def _place_of_verdict(finding: AuditFinding) -> int:
    return list(Ruling).index(finding.verdict)


def audit_sign(audit: Audit) -> Sign:
    """The sign of the gravest finding; without one that of whether all was read."""
    verdicts = {finding.verdict for finding in audit.findings}
    gravest = next((verdict for verdict in Ruling if verdict in verdicts), None)
    if gravest is not None:
        return SIGNS[gravest]
    is_whole = audit.scope is not AuditScope.SESSION and not audit.unread and not audit.had_no_session
    return Sign.GOOD if is_whole else Sign.UNKNOWN


_EXPLAINS = Sign.WARNING
"""The sign of a setting that fits what was measured: more than worth trying, and no proof."""


def _answer_with(audit: Audit, explanation: SettingExplanation | None) -> Toned:
    """The answer; first the setting that fits what was measured."""
    sign = audit_sign(audit)
    if explanation is None:
        return Toned(f"{sign} {audit_answer(audit)}", sign.tone)

    gravest = sign if sign is Sign.BAD else _EXPLAINS
    setting = explanation.setting
    line = f"[{setting.section}] {setting_text(setting)}"
    sentences = [f"{gravest} {line} {explanation.fits}.", explanation.act, _answer_besides(audit, setting)]
    return Toned(" ".join(filter(None, sentences)), gravest.tone)


def _answer_besides(audit: Audit, explained: AuditFinding) -> str:
    """The answer without that setting; empty where nothing else is to be told."""
    findings = tuple(finding for finding in audit.findings if finding is not explained)
    others = replace(audit, findings=findings)
    if not findings and audit_sign(others) is Sign.GOOD:
        return ""
    answer = audit_answer(others)
    return f"Besides: {answer[0].lower()}{answer[1:]}"


def place_text(finding: AuditFinding) -> str:
    """Where it stands, ``smb.conf:12``; of a fact ``server``."""
    name = finding.file.rpartition("/")[2]
    return f"{name}:{finding.line}" if finding.line else name or "server"


def setting_text(finding: AuditFinding) -> str:
    """The setting as written, ``log level = 3``, or the one word concerned."""
    if finding.word:
        return f"{finding.setting} … {_word_as_written(finding)}"
    if not finding.value:
        return finding.setting
    return f"{finding.setting} = {finding.value}" if finding.line else f"{finding.setting}: {finding.value}"


def _word_as_written(finding: AuditFinding) -> str:
    words = words_of_value(finding.parameter, finding.value)
    return next((word for word in words if word.partition("=")[0].lower() == finding.word.lower()), finding.word)


def _why_text(finding: AuditFinding, results: Sequence[str] = (), measured: str = "") -> str:
    """Why, what it costs, what was measured here, and who recommended it once; ``measured`` in place of the price."""
    sentences = [finding.why]
    if measured:
        sentences.append(measured)
    elif finding.price:
        price = finding.price.rstrip(".")
        sentences.append(f"{price} ({finding.price_source}).")
    sentences += _measured_here(results)
    if finding.advised_by:
        sentences.append(f"Once recommended by: {', '.join(finding.advised_by)}.")
    return " ".join(sentences)


def _measured_here(results: Sequence[str]) -> list[str]:
    texts = [result.rstrip(".") for result in results]
    return [f"Measured here {text}." for text in texts]


def audit_report(
    audit: Audit,
    results: Mapping[str, Sequence[str]] | None = None,
    explanation: SettingExplanation | None = None,
) -> report.Report:
    """An audit; ``results`` has what this notebook measured of each parameter, ``explanation`` what a setting fits."""
    answer = _answer_with(audit, explanation)
    path = str(audit.facts.get("smb.conf.path", ""))
    return report.Report(
        form="audit",
        title=f"Audit of {audit.subject}",
        name="Audit",
        fields=report.fields_of(
            report.answer_field(answer.text, answer.tone),
            *(("Not read", text, Tone.CAUTION) for text in audit.unread),
            report.question_field(audit.question),
            ("Note", audit.note),
            ("Server", audit.subject),
            ("Samba", str(audit.facts.get(fact_names.SAMBA_VERSION, ""))),
            ("Scope", _scope_text(audit)),
            ("Read", path if audit.scope is AuditScope.SERVER else ""),
            ("Session", _session_text(audit)),
            *(("Not found out", problem, Tone.CAUTION) for problem in audit.problems),
        ),
        tables=(*_finding_tables(audit, results or {}, explanation), *_settings_tables(audit)),
        document=partial(audit_document, audit),
    )


def _scope_text(audit: Audit) -> str:
    text = _SCOPES[audit.scope]
    if audit.scope is AuditScope.FILE and fact_names.samba_version(audit.facts) is None:
        text += " So is its Samba: --samba 4.22 judges the file for that version."
    return text


def _session_text(audit: Audit) -> str:
    """What a session with the server revealed; empty where its settings were read, which say more."""
    if audit.scope is not AuditScope.SESSION:
        return ""

    parts = [f"{name} {audit.facts[fact]}" for fact, name in _SESSION_FACTS.items() if audit.facts.get(fact)]
    return ", ".join(parts)


_SESSION_FACTS: Mapping[str, str] = {
    "session.dialect": "SMB",
    "session.signing": "signing",
    "session.encryption": "encryption",
    "mtu.path_bytes": "largest packet of the path in bytes",
    fact_names.SAMBA_VERSION: "Samba",
}
"""What is told of a session: the fact, and its name for people."""


def _finding_tables(
    audit: Audit, results: Mapping[str, Sequence[str]], explanation: SettingExplanation | None
) -> Iterator[report.Table]:
    """What to mend, and below it what does nothing; neither where there is none."""
    to_mend = [finding for finding in audit.findings if finding.verdict is not Ruling.USELESS]
    rows = [_finding_row(finding, results.get(finding.parameter, ())) for finding in to_mend]
    if explanation is not None:
        place = to_mend.index(explanation.setting)
        del rows[place]
        rows.insert(0, _explaining_row(explanation, results.get(explanation.setting.parameter, ())))
    if rows:
        yield report.Table(
            columns=report.columns_of("Finding", "Why", "What to do"),
            rows=tuple(rows),
            caption="Findings",
            sentences=True,
        )

    useless = [finding for finding in audit.findings if finding.verdict is Ruling.USELESS]
    if useless:
        useless.sort(key=attrgetter("file", "line"))
        yield report.Table(
            columns=report.columns_of("Useless", "Setting", "Why"),
            rows=tuple(_useless_row(finding, results.get(finding.parameter, ())) for finding in useless),
            caption="Useless: delete these",
        )


def _finding_row(finding: AuditFinding, results: Sequence[str]) -> report.Row:
    sign = SIGNS[finding.verdict]
    name = f"{sign} {finding.verdict} {place_text(finding)}  {_line_text(finding)}"
    return report.row_of(name, _why_text(finding, results), finding.what_to_do, tone=sign.tone)


def _explaining_row(explanation: SettingExplanation, results: Sequence[str]) -> report.Row:
    """The row of the setting that fits what was measured."""
    finding = explanation.setting
    name = f"{_EXPLAINS} {place_text(finding)}  {_line_text(finding)} {explanation.fits}"
    why = _why_text(finding, results, explanation.measured)
    return report.row_of(name, why, explanation.what_to_do, tone=_EXPLAINS.tone)


def _line_text(finding: AuditFinding) -> str:
    """The setting, with the share whose line it is."""
    is_of_share = finding.line and finding.section and finding.section.casefold() != "global"
    return f"[{finding.section}] {setting_text(finding)}" if is_of_share else setting_text(finding)


def _useless_row(finding: AuditFinding, results: Sequence[str]) -> report.Row:
    name = f"{SIGNS[finding.verdict]} {place_text(finding)}"
    reasons = " ".join([finding.why, *_measured_here(results)])
    return report.row_of(name, _line_text(finding), reasons, tone=Tone.FAINT)


def _settings_tables(audit: Audit) -> Iterator[report.Table]:
    """What the server has: of the settings that matter the first ones, and all that are not default."""
    settings = values_that_matter(audit.facts)
    listed_settings = [
        setting for place, setting in enumerate(settings) if place < _SETTINGS_SHOWN or not setting.is_default
    ]
    if not listed_settings:
        return

    caption = "What the server has, of the settings that matter"
    if len(listed_settings) < len(settings):
        caption += f" ({len(settings) - len(listed_settings)} more are at their defaults)"
    rows = [
        report.row_of(setting.entry.parameter, setting.value or "(empty)", setting.default or "(empty)")
        for setting in listed_settings
    ]
    yield report.Table(
        columns=report.columns_of("Setting", "Value", "Default"),
        rows=tuple(rows),
        caption=caption,
    )
