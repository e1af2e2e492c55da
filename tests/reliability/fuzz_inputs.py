"""Inputs for the fuzz campaign: what is right, changed at a few places, most often by what parsers stumble over."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

NASTY = (
    "9" * 5_000, "-1", "0", "1e999", "nan", "inf", "\0", "\r\n", "\n", "\t", "\x1b]52;c;eA==\x07", "\u202e", "\ud800",
    "٣", "½", "{", "[", "]" * 50, "(", "=" * 100, "/" * 50, "@", ":", ";", "%", "%zz", "%00", "\\", "'", '"', ",", " ",
    "x" * 3_000,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31, 2**63, 2**64, 10**300, 0.0, -0.5, 1e308, float("nan"), float("inf"))

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(NUMBERS), st.text(max_size=8),
    st.sampled_from(NASTY),
)  # fmt: skip
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changed_text(draw: st.DrawFn, samples: Sequence[str]) -> str:
    """One of the samples with up to five changes."""
    text = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 10, 1_000])))
        piece = draw(st.one_of(st.sampled_from(NASTY), st.text(max_size=4), st.just("")))
        text = text[:start] + piece + text[end:]
    return text[:100_000]


@st.composite
def changed_bytes(draw: st.DrawFn, samples: Sequence[bytes]) -> bytes:
    """One of the samples with up to six changes."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 2, 4, 8, 1_000])))
        piece = draw(
            st.one_of(
                st.binary(max_size=8),
                st.sampled_from([b"\0" * 4, b"\xff" * 4, b"\xff" * 8, b"\0\0\0\x80", b"9" * 5_000]),
            )
        )
        data = data[:start] + piece + data[end:]
    return data


@st.composite
def changed_json(draw: st.DrawFn, samples: Sequence[Any]) -> str:
    """A JSON text of one of the samples, with up to four places replaced or left out."""
    document = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(0, 4))):
        place = document
        while isinstance(place, dict | list) and place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            if not isinstance(place[key], dict | list) or not place[key] or draw(st.integers(0, 3)) == 0:
                if draw(st.integers(0, 4)) == 0:
                    del place[key]
                else:
                    place[key] = draw(json_values)
                break
            place = place[key]
    return json.dumps(document)
