"""People's texts about a recording, with versions, so that notebooks that were changed apart merge to the same texts.

Colleagues exchange recordings, and each may write of them meanwhile. So a text has *versions*, each named by the time
of writing and a hash of its words. Several are current where people wrote without knowing of each other; of those that
were replaced the names are kept. Merging keeps what neither side has replaced, in
whatever order and however often it is done: a multi-value register (Shapiro et al. 2011, INRIA RR-7506, 3.2.2).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from storage.json_reader import DocumentError, JSONNode
from storage.records import JSONValue, utc_minute

SAID = "said"
"""The member of a recording's content that keeps its texts."""

# The names of texts.
NOTE = "note"
WRITTEN_BY_PEOPLE = ("label", NOTE, "question")
"""Those in free words."""
DECISION = "decision"
"""What people did with a change that was measured."""
NORMAL = "normal"
"""``yes`` where a path's level counts as the usual one from this recording on."""
EXPERIMENT = "experiment"
"""The experiment that a series is in."""

BASELINE = "baseline"
"""Begins the name of a text that holds when a recording became a baseline: ``baseline/NAME``."""

RUNS = {
    "runs": ("series_id", "phase", "number"),
    "load_points": ("load_id", "number"),
    "layer_runs": ("isolation_id", "round", "layer", "clients"),
}
"""The tables of what can be rejected, with the columns of their keys, the recording's id first.

The reason of a rejection is a text that is named by the table and the rest of the key: ``runs/measured/3``.
"""

LAST = "last"
LAST_LOAD = "last-load"
"""What commands call the newest recording, and the newest load."""

_VERSION = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z [0-9a-f+ ]{8,}")
_LONGEST_NAME = 200
"""A line of a list, and more than anybody types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text with its versions."""

    now: Mapping[str, str]
    """The words of the current versions by name, at least one; a name begins with the time of writing."""
    past: tuple[str, ...] = ()
    """The names of the versions that were replaced."""

    @property
    def newest(self) -> str:
        return self.now[max(self.now)]

    @property
    def others(self) -> list[tuple[str, str]]:
        """The other versions that say something else, by name, the newest first."""
        newest_first = sorted(self.now.items(), reverse=True)
        return [(version, text) for version, text in newest_first if text and text != self.newest]

    def with_text(self, text: str, at: str) -> "Text":
        """A new version that replaces all there are; a clock that is slow makes it no older than those."""
        past = {*self.past, *self.now}
        written_at = max(at, max(past)[: len(at)])

        version = _version_name(text, written_at)
        while version in past:
            version = _version_name(text, f"{version}+")
        return Text(now={version: text}, past=tuple(sorted(past)))

    def merged(self, other: "Text") -> "Text":
        """What both know of the text: the versions that neither has replaced."""
        past = {*self.past, *other.past}
        versions = {**self.now, **other.now}
        current = {version: text for version, text in versions.items() if version not in past}
        if not current:
            newest = max(versions)
            current = {newest: versions[newest]}
        return Text(now=current, past=tuple(sorted(past - current.keys())))

    def with_newest_alone(self) -> "Text":
        """The text with its newest version in place of the others."""
        newest = max(self.now)
        past = {*self.past, *self.now} - {newest}
        return Text(now={newest: self.newest}, past=tuple(sorted(past)))


def text_since(at: str, text: str = "") -> Text:
    """A text of one version, such as an older program stored it: without versions."""
    return Text(now={_version_name(text, at): text})


def _version_name(text: str, at: str) -> str:
    from hashlib import sha256  # loads OpenSSL, and only what is written needs it

    return f"{at} {sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of one recording."""

    created_at: str
    """Of the recording: older than any version that is written later."""
    texts: Mapping[str, Text] = field(default_factory=dict)

    def with_texts(self, new: Mapping[str, str], at: str) -> "Texts":
        """With new versions, written at that moment, of the texts that are named."""
        texts = dict(self.texts)

        # The note lists the other versions of a text; who replaces the text must not lose them.
        if NOTE not in new and any(texts[name].others for name in new if name in texts):
            new = {**new, NOTE: self.note}

        # A new note has the other versions in its words, or somebody took them out.
        if NOTE in new:
            texts = {name: text.with_newest_alone() for name, text in texts.items()}

        for name, words in new.items():
            before = texts.get(name, text_since(self.created_at))
            texts[name] = before.with_text(words, at)
        return Texts(self.created_at, texts)

    def merged(self, other: "Texts") -> "Texts":
        """Each text as both know it."""
        nothing = text_since(self.created_at)
        names = sorted({*self.texts, *other.texts})
        texts = {name: self.texts.get(name, nothing).merged(other.texts.get(name, nothing)) for name in names}
        return Texts(self.created_at, texts)

    @property
    def newest(self) -> dict[str, str]:
        """The newest version of each text; the note tells the others."""
        return {name: text.newest for name, text in self.texts.items()} | {NOTE: self.note}

    @property
    def note(self) -> str:
        """The newest note, followed by what others wrote at the same time, each paragraph once."""
        paragraphs = self.texts[NOTE].newest.split("\n\n") if NOTE in self.texts else []
        for name in sorted(self.texts, key=_note_first):
            if name.startswith(f"{BASELINE}/"):
                continue  # its versions are times
            subject = f"reason for run {name.rpartition('/')[2]}" if "/" in name else name
            for version, text in self.texts[name].others:
                unread = [paragraph for paragraph in text.split("\n\n") if paragraph not in paragraphs]
                if unread:
                    paragraphs.append(f"Other {subject} of {utc_minute(version)}: {unread[0]}")
                    paragraphs.extend(unread[1:])
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)

    def to_json(self) -> dict[str, JSONValue]:
        return {name: {"now": dict(text.now), "past": list(text.past)} for name, text in self.texts.items()}


def _note_first(name: str) -> tuple[bool, str]:
    return name != NOTE, name


def texts_from_json(place: JSONNode, created_at: str) -> Texts:
    """The texts of :meth:`Texts.to_json`. Raises DocumentError."""
    names = [] if place.value is None else place.object().value
    texts = {name: place.at(name).record(Text) for name in names}
    for name, text in texts.items():
        if not text.now or not all(_VERSION.fullmatch(version) for version in (*text.now, *text.past)):
            raise DocumentError(f"{place.name}.{name}: expected versions, each by the time when it was written")
    return Texts(created_at, texts)


def why_no_baseline_name(name: str) -> str:
    """Why that cannot name a baseline, empty where it can: ``last`` and ids name a recording already."""
    problem = _problem_of_name(name)
    quoted_name = name
    if not problem and len(name) > _LONGEST_NAME:
        problem = f"it has more than {_LONGEST_NAME} characters"
        quoted_name = f"{name[:20]}…"

    if not problem:
        return ""
    return f"a baseline cannot be called {quoted_name!r}, since {problem}; choose a word such as before-tuning"


def _problem_of_name(name: str) -> str:
    if name in {LAST, LAST_LOAD}:
        return "that always names the newest"
    if re.fullmatch(r"[0-9a-f]{12}", name):
        return "it looks like an id"
    if not name:
        return "it is empty"
    if name != name.strip():
        return "a blank begins or ends it"
    if name.startswith("-"):
        return "it looks like an option"
    if not name.isprintable():
        return "it has a character that is not printed"
    return ""
