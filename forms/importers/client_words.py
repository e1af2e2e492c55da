"""What a form says of its client, read back into facts."""

from __future__ import annotations

import re

from storage.records import ClientFacts

_WORDS = {
    "dialect": re.compile(r"dialect (\S+)"),
    "signing": re.compile(r"signed by (\S+)"),
    "encryption": re.compile(r"encrypted by (.+)"),
    "block_bytes": re.compile(r"blocks of ([\d.]+) (bytes|KiB|MiB|GiB)"),
    "in_flight": re.compile(r"(\d+) in flight"),
}
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
BY_HAND = "by hand"
"""The client of a form that names none."""


def client_from(text: str) -> ClientFacts:
    """The facts of a line such as ``sharebench 0.1.0, dialect 3.1.1, not signed, 4 in flight``."""
    first, *parts = [part.strip() for part in text.split(", ")]
    name, _, version = first.rpartition(" ") if re.search(r" v?\d", first) else (first, "", "")
    said: dict[str, str] = {}
    for part in parts:
        for word, pattern in _WORDS.items():
            if match := pattern.fullmatch(part):
                said[word] = match[1] if word != "block_bytes" else str(round(float(match[1]) * _UNITS[match[2]]))
        if part in {"not signed", "not encrypted"}:
            said["signing" if part == "not signed" else "encryption"] = "none"
    return ClientFacts(
        name=name or BY_HAND,
        version=version,
        dialect=said.get("dialect"),
        signing=said.get("signing"),
        encryption=said.get("encryption"),
        block_bytes=int(said["block_bytes"]) if "block_bytes" in said else None,
        in_flight=int(said["in_flight"]) if "in_flight" in said else None,
    )
