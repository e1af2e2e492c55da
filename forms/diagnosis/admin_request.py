"""What to ask of who administers a server that cannot be looked into from here, as a text to send and as a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forms import wording
from forms.diagnosis.chosen_complaint import chosen_complaint
from forms.tuning.smb_conf import toml_data
from storage.looks import Diagnosis, StageName
from storage.records import Target, format_target, with_zone

_GENERAL = "general"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A command that only reads, and what its answer tells."""

    command: str
    look_for: str
    placeholder: str = ""
    """What to type for a word of the command; empty where it is complete."""


def questions(complaint: StageName | None, share: str | None) -> tuple[Question, ...]:
    """What to ask about a share, the likeliest first; of no complaint in particular the settings alone."""
    rows = _about_complaint(complaint)["ask"]
    return tuple(_question(row, wording.plain(share or "SHARE")) for row in rows)


def _question(row: Mapping[str, str], share: str) -> Question:
    return Question(
        command=row["command"],
        look_for=" ".join(row["look_for"].split()),
        placeholder=row.get("placeholder", "").replace("{share}", share),
    )


def entries_about(complaint: StageName | None) -> tuple[str, ...]:
    """The entries of the catalogue of settings that are about a complaint, the likeliest first."""
    return tuple(_about_complaint(complaint)["entries"])


def _about_complaint(complaint: StageName | None) -> Mapping[str, Any]:
    tables = toml_data("complaints.toml", package="forms.diagnosis")
    key = complaint.value if complaint is not None else _GENERAL
    about: Mapping[str, Any] = tables.get(key, tables[_GENERAL])
    return about


def request_text(diagnosis: Diagnosis, answer: str) -> str:
    """A letter: what was measured, ``answer``, and what to look at; lines are not wrapped."""
    heading = f"About {_share_text(diagnosis.target)}, measured with sharebench on {with_zone(diagnosis.created_at)}:"
    return "\n".join([heading, "", answer, "", *_question_lines(chosen_complaint(diagnosis), diagnosis.target)])


def settings_request(target: Target) -> str:
    """The same, of the settings alone."""
    return "\n".join([f"About {_share_text(target)}:", "", *_question_lines(None, target)])


def _share_text(target: Target) -> str:
    return wording.plain(format_target(target, login=False, escaped=False))


def _question_lines(complaint: StageName | None, target: Target) -> list[str]:
    lines = ["Please run this on the server and send me the output. It only reads; nothing is changed."]
    for question in questions(complaint, target.share):
        placeholder = [f"  {question.placeholder}."] if question.placeholder else []
        lines += ["", f"  {question.command}", *placeholder, f"  Look for: {question.look_for}."]
    return lines
