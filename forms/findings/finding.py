"""A finding: something that measurements say about a set-up, with evidence and what to do; and where its words are.

Findings, warnings about a series, and the causes that a diagnosis names are all of this class. The words of most stand
in TOML files, by a key and a variant.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from forms import wording
from forms.recommended import RECOMMENDED
from forms.tuning.smb_conf import toml_data
from storage.records import Command, Series


class Severity(StrEnum):
    """How much a finding matters, the gravest first."""

    PROBLEM = "problem"
    WARNING = "warning"
    NOTE = "note"
    GOOD = "good"


class NextAct(StrEnum):
    """What a finding asks to be done next, where that is a command of sharebench."""

    ISOLATE = "isolate"
    """Measure disk, network and Samba one by one."""
    TRY = "try"
    """Measure with the finding's ``setting`` and without it."""
    CATALOGUE = "catalogue"
    """Read the finding's ``entry`` of the catalogue."""
    AUDIT = "audit"
    """Read the server's settings."""
    ASK = "ask"
    """Have who administers the server look there, as it cannot be looked into from here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that was found, for people and for programs."""

    key: str
    """What it is about, for programs."""
    severity: Severity = Severity.WARNING
    title: str
    """For people, without a full stop: what is so. A warning's title ends in what to do."""
    evidence: str = ""
    """Sentences: the figures that show it."""
    what_to_do: str = ""
    series_ids: tuple[str, ...] = ()
    """The series that show it."""
    remark: str = ""
    """Of a warning: what is so, without what to do, where another advice comes first; empty where the title does."""

    options: str = ""
    """Options to type with the same command again; empty where none help."""
    command: str = ""
    """A whole command to type, in place of ``options``."""
    cost: float | None = None
    """The share of the waiting time in its situation that would go, 0 to 1; None where it is not measured."""
    sure: str = ""
    """How sure it is, in words; empty where nothing needs to be said."""
    setting: str = ""
    """``NAME=VALUE`` that ``try`` can test."""
    entry: str = ""
    """The entry of the catalogue to read, where no value is named."""
    next_act: NextAct | None = None
    """None where what to do is outside of sharebench."""
    figures: tuple[str, ...] = ()
    """The keys of the figures that show it, in a diagnosis."""
    is_answer: bool = False
    """Whether the title answers the complaint by itself, with the figures."""
    cause: str = ""
    """What is to blame for certain, as a noun; empty where the title is all that is known."""

    @property
    def is_wrong(self) -> bool:
        return self.severity in {Severity.PROBLEM, Severity.WARNING}

    @property
    def text(self) -> str:
        """Title, evidence and advice as one paragraph; the title alone where it has no evidence."""
        return f"{self.title}: {self.evidence} {self.what_to_do}" if self.evidence else self.title


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=_place_by_severity)


def _place_by_severity(finding: Finding) -> int:
    return list(Severity).index(finding.severity)


def first_to_look_at(findings: Iterable[Finding]) -> Finding | None:
    """The first one that says more than that all is well; None without one."""
    return next((finding for finding in findings if finding.severity is not Severity.GOOD), None)


def finding_from_texts(name: str, /, *series: Series, **words: object) -> Finding:
    """The finding ``KEY`` or ``KEY.VARIANT`` of ``data/findings.toml``, about these series.

    ``words`` are for the places in its texts; ``{called}`` is the first series, ``{recommended_…}`` see
    ``forms/recommended.py``.
    """
    return _from_file("findings.toml", name, series, words)


def warning_from_texts(name: str, /, *series: Series, **words: object) -> Finding:
    """The same for the warning ``KEY`` or ``KEY.VARIANT`` of ``data/warnings.toml``."""
    return _from_file("warnings.toml", name, series, words)


def _from_file(file: str, name: str, series: tuple[Series, ...], words: dict[str, object]) -> Finding:
    if series:
        words = {"called": name_with_command(series[0]), **words}
    texts = {field: text.format_map({**RECOMMENDED, **words}) for field, text in _texts_from_file(file, name).items()}
    key, _, _ = name.partition(".")

    return Finding(
        key=texts.get("key", key),
        severity=Severity(texts.get("severity", Severity.WARNING)),
        title=texts["title"],
        evidence=texts.get("evidence", ""),
        what_to_do=texts.get("what_to_do", ""),
        series_ids=tuple(one_series.id for one_series in series),
        remark=texts.get("remark", ""),
        options=texts.get("options", ""),
        command=texts.get("command", ""),
        sure=texts.get("sure", ""),
        setting=texts.get("setting", ""),
    )


@cache
def _texts_from_file(file: str, name: str) -> dict[str, str]:
    """The texts of ``KEY`` or ``KEY.VARIANT``; a variant replaces some of its key's."""
    key, _, variant = name.partition(".")
    entry = toml_data(file, package="forms.findings")[key]
    texts = entry | entry.get(variant, {})
    return {field: " ".join(text.split()) for field, text in texts.items() if isinstance(text, str)}


def name_with_command(series: Series) -> str:
    """``get from smb://nas/share/file``."""
    preposition = "from" if series.command is Command.GET else "to"
    return f"{series.command} {preposition} {wording.place(series.target)}"
