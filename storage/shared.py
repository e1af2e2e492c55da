"""What people write about recordings, with its times, so that two notebooks that were both changed become equal.

Each text (label, note, the reason for which a run is rejected, …) keeps its current versions, of which there are
several where notebooks were changed at once, and the names of the versions that these replaced. Merging is the same in
either order, and twice as good as once: a multi-value register (Shapiro et al. 2011, INRIA RR-7506, 3.2.2).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from storage.json_reader import DocumentError, JSONNode
from storage.records import JSONValue

SAID, NOTE, BASELINE = "said", "note", "baseline"
"""The key in a recording's content; the text that keeps what lost; the first part of the name of a baseline's text."""
RUNS = {
    "runs": ("series_id", "phase", "number"),
    "load_points": ("load_id", "number"),
    "layer_runs": ("isolation_id", "round", "layer", "clients"),
}
"""The tables with a status that people change, with their keys; the text is the reason of a rejection."""
_VERSION = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z [0-9a-f+ ]{8,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text: its versions by name, each of which begins with the time when it was written."""

    now: Mapping[str, str]
    past: tuple[str, ...] = ()

    @property
    def newest(self) -> str:
        """What it says."""
        return self.now[max(self.now)]

    @property
    def others(self) -> list[tuple[str, str]]:
        """What was written elsewhere at the same time: when and what, the newest first."""
        return [(name, text) for name, text in sorted(self.now.items(), reverse=True) if text and text != self.newest]

    def written(self, text: str, at: str) -> "Text":
        """The text in place of all versions there are."""
        past = {*self.past, *self.now}
        name = _name(text, max(at, max(past)[: len(at)]))
        while name in past:
            name = _name(text, f"{name}+")
        return Text(now={name: text}, past=tuple(sorted(past)))

    def merged(self, other: "Text") -> "Text":
        """The versions of both that neither has replaced."""
        past = {*self.past, *other.past}
        both = {**self.now, **other.now}
        kept = {name: text for name, text in both.items() if name not in past} or {max(both): both[max(both)]}
        return Text(now=kept, past=tuple(sorted(past - kept.keys())))


def text_since(at: str, text: str = "") -> Text:
    """A text of which nothing is known but when its recording was made."""
    return Text(now={_name(text, at): text})


def _name(text: str, at: str) -> str:
    return f"{at} {sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Texts:
    """All that people have written about a recording, by the names of the texts."""

    created_at: str
    texts: Mapping[str, Text] = field(default_factory=dict)

    def written(self, new: Mapping[str, str], at: str) -> "Texts":
        """With new texts; what lost against one that is replaced now stays in the note."""
        texts = dict(self.texts)
        if NOTE not in new and any(texts[name].others for name in new if name in texts):
            new = {**new, NOTE: self.note}
        if NOTE in new:  # it has them, or somebody took them out
            texts = {name: Text(now={max(one.now): one.newest}, past=_past(one)) for name, one in texts.items()}
        for name, text in new.items():
            texts[name] = texts.get(name, text_since(self.created_at)).written(text, at)
        return Texts(self.created_at, texts)

    def merged(self, other: "Texts") -> "Texts":
        """What both have."""
        nothing = text_since(self.created_at)
        names = sorted({*self.texts, *other.texts})
        return Texts(
            self.created_at,
            {name: self.texts.get(name, nothing).merged(other.texts.get(name, nothing)) for name in names},
        )

    @property
    def shown(self) -> dict[str, str]:
        """Each text as the recording has it: the newest; the note with what was written elsewhere at the same time."""
        return {name: one.newest for name, one in self.texts.items()} | {NOTE: self.note}

    @property
    def note(self) -> str:
        """The note, with every text that lost against a newer one."""
        parts = self.texts[NOTE].newest.split("\n\n") if NOTE in self.texts else []
        for name, one in sorted(self.texts.items(), key=lambda item: (item[0] != NOTE, item[0])):
            for when, text in () if name.startswith(f"{BASELINE}/") else one.others:
                fresh = [part for part in text.split("\n\n") if part not in parts]
                if fresh:
                    parts += [f"Other {_words(name)} of {when[:16].replace('T', ' ')}: {fresh[0]}", *fresh[1:]]
        return "\n\n".join(part for part in parts if part)

    def to_json(self) -> dict[str, JSONValue]:
        """As the notebook keeps it, and as it travels."""
        return {name: {"now": dict(one.now), "past": list(one.past)} for name, one in self.texts.items()}


def _past(one: Text) -> tuple[str, ...]:
    return tuple(sorted({*one.past, *one.now} - {max(one.now)}))


def texts_from_json(place: JSONNode, created_at: str) -> Texts:
    """What :meth:`Texts.to_json` wrote. Raises DocumentError."""
    texts = {name: place.at(name).record(Text) for name in (place.object().value if place.value is not None else ())}
    for name, one in texts.items():
        if not one.now or not all(_VERSION.fullmatch(version) for version in (*one.now, *one.past)):
            raise DocumentError(f"{place.name}.{name}: expected versions, each by the time when it was written")
    return Texts(created_at, texts)


def _words(name: str) -> str:
    """A text's name for people: ``label``; ``reason for run 3``, of ``runs/measured/3``."""
    return f"reason for run {name.rpartition('/')[2]}" if "/" in name else name
