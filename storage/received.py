"""Reads people's texts about a recording that another notebook sent, and checks each name and value of them.

What a text may say depends on its name and on the kind of recording (:mod:`storage.shared` has the names). A text has
versions, each named by its time and eight hexadecimal digits of a hash of its words (``+`` is added where that name was
taken): ``now`` has the words of those that count, ``past`` the names of those that were replaced.
"""

import re
from collections.abc import Iterable

from storage.isolation import Layer
from storage.json_reader import DocumentError, JSONNode
from storage.recordings import ISOLATION, LOAD, SERIES
from storage.records import Decision, is_moment
from storage.shared import (
    BASELINE,
    DECISION,
    EXPERIMENT,
    NORMAL,
    WRITTEN_BY_PEOPLE,
    Text,
    Texts,
    texts_from_json,
    why_no_baseline_name,
)

MOST_VERSIONS = 64
"""Of one text at once: each is of somebody who did not know the others."""
MOST_PAST = 10_000
"""Replaced versions of one text."""
MOST_BASELINES = 100
"""Names of baselines that one recording has."""
_VERSION = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) [0-9a-f+ ]{8,200}")
_NUMBER = r"[1-9][0-9]{0,17}"
_LAYER = "|".join(re.escape(layer.value) for layer in Layer)
_REJECTION_NAMES = {
    SERIES: re.compile(rf"runs/(measured|warm-up)/{_NUMBER}"),
    LOAD: re.compile(rf"load_points/{_NUMBER}"),
    ISOLATION: re.compile(rf"layer_runs/{_NUMBER}/({_LAYER})/{_NUMBER}"),
}
"""How the reason of a rejected run is named, by kind of recording, as the notebook names it; others have no runs."""
_VALUES = {NORMAL: {"", "yes"}, DECISION: {"", *Decision}}


def texts_received(place: JSONNode, kind: str) -> Texts:
    """The texts about a recording of that kind, from ``[CREATED_AT, TEXTS]``. Raises DocumentError."""
    pair = place.items()
    if len(pair) != 2:
        raise DocumentError(f"{place.name}: expected a time and texts, found {len(pair)} values")
    created_at, texts_place = pair
    texts = texts_from_json(texts_place, created_at.time())

    baselines = [name for name in texts.texts if name.startswith(f"{BASELINE}/")]
    if len(baselines) > MOST_BASELINES:
        raise DocumentError(f"{place.name}: more than {MOST_BASELINES} names of baselines")
    for name, text in texts.texts.items():
        problem = _why_no_text(name, text, kind)
        if problem:
            raise DocumentError(f"{place.name}.{name[:80]}: {problem}")
    return texts


def _why_no_text(name: str, text: Text, kind: str) -> str:
    """Why a recording of that kind can have no such text; empty where it can."""
    if len(text.now) > MOST_VERSIONS or len(text.past) > MOST_PAST:
        return "too many versions"
    if not all(map(_is_version, (*text.now, *text.past))):
        return "a version has no time"

    values = text.now.values()
    if name in WRITTEN_BY_PEOPLE:
        return ""
    if name in _VALUES:
        is_fit = set(values) <= _VALUES[name] and (name != DECISION or kind == SERIES)
        return "" if is_fit else f"no value of a {kind}"
    if name == EXPERIMENT:
        return "" if kind == SERIES else f"no text of a {kind}"
    if name.startswith(f"{BASELINE}/"):
        return why_no_baseline_name(name.removeprefix(f"{BASELINE}/")) or _why_not_times(values)
    rejection_name = _REJECTION_NAMES.get(kind)
    return "" if rejection_name and rejection_name.fullmatch(name) else f"no text of a {kind} that this version knows"


def _is_version(name: str) -> bool:
    match = _VERSION.fullmatch(name)
    return match is not None and is_moment(match[1])


def _why_not_times(values: Iterable[str]) -> str:
    return "" if all(not value or is_moment(value) for value in values) else "expected the time when it was named"
