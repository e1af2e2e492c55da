"""People's texts about recordings, with times, so that two notebooks changed separately merge to the same.
Each text keeps its concurrent versions and the names of replaced ones: merging commutes and is idempotent, a
multi-value register (Shapiro et al. 2011, INRIA RR-7506, 3.2.2).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from storage.json_reader import DocumentError, JSONNode
from storage.records import JSONValue, utc_minute

SAID, NOTE, BASELINE = "said", "note", "baseline"
RUNS = {
    "runs": ("series_id", "phase", "number"),
    "load_points": ("load_id", "number"),
    "layer_runs": ("isolation_id", "round", "layer", "clients"),
}
_VERSION = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z [0-9a-f+ ]{8,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text: its versions by name, which begins with the time of writing."""

    now: Mapping[str, str]
    past: tuple[str, ...] = ()

    @property
    def newest(self) -> str:
        return self.now[max(self.now)]

    @property
    def others(self) -> list[tuple[str, str]]:
        return [(name, text) for name, text in sorted(self.now.items(), reverse=True) if text and text != self.newest]

    def written(self, text: str, at: str) -> "Text":
        past = {*self.past, *self.now}
        name = _name(text, max(at, max(past)[: len(at)]))
        while name in past:
            name = _name(text, f"{name}+")
        return Text(now={name: text}, past=tuple(sorted(past)))

    def merged(self, other: "Text") -> "Text":
        past = {*self.past, *other.past}
        both = {**self.now, **other.now}
        kept = {name: text for name, text in both.items() if name not in past} or {max(both): both[max(both)]}
        return Text(now=kept, past=tuple(sorted(past - kept.keys())))


def text_since(at: str, text: str = "") -> Text:
    """A text known only since its recording was made."""
    return Text(now={_name(text, at): text})


def _name(text: str, at: str) -> str:
    return f"{at} {sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Texts:
    created_at: str
    texts: Mapping[str, Text] = field(default_factory=dict)

    def written(self, new: Mapping[str, str], at: str) -> "Texts":
        texts = dict(self.texts)
        if NOTE not in new and any(texts[name].others for name in new if name in texts):
            new = {**new, NOTE: self.note}
        if NOTE in new:  # it has them, or somebody took them out
            texts = {
                name: Text(now={max(one.now): one.newest}, past=tuple(sorted({*one.past, *one.now} - {max(one.now)})))
                for name, one in texts.items()
            }
        for name, text in new.items():
            texts[name] = texts.get(name, text_since(self.created_at)).written(text, at)
        return Texts(self.created_at, texts)

    def merged(self, other: "Texts") -> "Texts":
        nothing = text_since(self.created_at)
        names = sorted({*self.texts, *other.texts})
        texts = {name: self.texts.get(name, nothing).merged(other.texts.get(name, nothing)) for name in names}
        return Texts(self.created_at, texts)

    @property
    def shown(self) -> dict[str, str]:
        return {name: one.newest for name, one in self.texts.items()} | {NOTE: self.note}

    @property
    def note(self) -> str:
        parts = self.texts[NOTE].newest.split("\n\n") if NOTE in self.texts else []
        for name, one in sorted(self.texts.items(), key=lambda item: (item[0] != NOTE, item[0])):
            for when, text in () if name.startswith(f"{BASELINE}/") else one.others:
                if fresh := [part for part in text.split("\n\n") if part not in parts]:
                    what = f"reason for run {name.rpartition('/')[2]}" if "/" in name else name
                    parts += [f"Other {what} of {utc_minute(when)}: {fresh[0]}", *fresh[1:]]
        return "\n\n".join(part for part in parts if part)

    def to_json(self) -> dict[str, JSONValue]:
        return {name: {"now": dict(one.now), "past": list(one.past)} for name, one in self.texts.items()}


def texts_from_json(place: JSONNode, created_at: str) -> Texts:
    """The texts of :meth:`Texts.to_json`. Raises DocumentError."""
    texts = {name: place.at(name).record(Text) for name in (place.object().value if place.value is not None else ())}
    for name, one in texts.items():
        if not one.now or not all(_VERSION.fullmatch(version) for version in (*one.now, *one.past)):
            raise DocumentError(f"{place.name}.{name}: expected versions, each by the time when it was written")
    return Texts(created_at, texts)
