"""Units in the headings and cells of a form: read where the unit names its factor exactly, such as ``MiB/s``.

``MB`` is a million bytes to some programs and 2^20 to others, and ``mb/s`` may be bits: a table whose numbers need such
a unit is refused.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from forms.importers.paper_columns import PaperColumn
from forms.layout import visible

_LONGEST_CITED = 40
"""Characters of a heading in an answer."""


@dataclass(frozen=True, slots=True)
class ExactUnit:
    """A unit of a column's numbers, and how many of the form's own units it is."""

    column: PaperColumn
    factor: float


_SECOND_IN_OTHER_LANGUAGES = (
    "sek",
    "sekunde",
    "sekunden",
    "seconde",
    "secondes",
    "segundo",
    "segundos",
    "secondi",
    "sekund",
    "sekunder",
    "sekundy",
)

_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
    "msecs": 1e-3,
    "millisecond": 1e-3,
    "milliseconds": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "min": 60.0,
    "mins": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
    **dict.fromkeys(_SECOND_IN_OTHER_LANGUAGES, 1.0),
    **dict.fromkeys(("minuten", "minuto", "minutos", "minuti"), 60.0),
    **dict.fromkeys(("stunde", "stunden", "heure", "heures"), 3600.0),
}
"""By names in small letters."""

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_A_SECOND = r"(?:/s|/sec|/second|ps|persec|persecond)"

_BYTES = re.compile(rf"(?P<prefix>[KkMGT]i|10\^(?P<exponent>3|6|9|12))?(?:B|[Bb]ytes?|BYTES?)(?P<rate>{_A_SECOND})?")
"""Bytes whose factor is certain: ``B``, ``MiB``, ``10^6 Bytes``; with ``/s``, of a rate."""

_BITS = re.compile(rf"(?P<prefix>[KkMmGgTt]i?)?(?:[Bb]its?|BITS?){_A_SECOND}|(?P<short_prefix>[kKMGT]i?)?b{_A_SECOND}")
"""Bits a second; a small ``b`` alone stands for bits where the prefix has its right size: ``Mb/s``, not ``mb/s``."""

_UNCERTAIN = re.compile(rf"(?P<prefix>[kmgt])i?(?:b|bytes?)?(?:{_A_SECOND})?|b{_A_SECOND}", re.IGNORECASE)
"""Units that some take for powers of 1000 and some for powers of 1024, or for bits."""

_NUMERAL_AND_UNIT = re.compile(r"(?P<numeral>[+-]?[\d.,].*?\d|\d|\d[.,])[ \u00a0\u202f]*(?P<unit>10\^.*|[^\d\s.,'].*)")


_LATIN_LETTERS = str.maketrans("кмгтибнеКМГТБ\N{CYRILLIC SMALL LETTER ES}", "kmgtibneKMGTBs")
"""Of units in Cyrillic."""
_OCTETS = re.compile(r"(?P<prefix>[KkMGT]i?)?(?:o|[Oo]ctets?)(?=/|$)")
"""Bytes as French writes them: ``Mio``, ``Mo/s``."""


def _in_latin(text: str) -> str:
    """The name of a unit without blanks, in the letters and words that are known here."""
    name = "".join(text.split()).replace("байт", "byte").translate(_LATIN_LETTERS)
    octets = _OCTETS.match(name)
    if octets:
        return f"{octets['prefix'] or ''}B{name[octets.end() :]}"
    return re.sub(r"/[Ss]ek\.?$", "/s", name)


def unit_named(text: str) -> ExactUnit | None:
    """The unit of that name; None for a name of none, or of one without an exact factor."""
    name = _in_latin(text)
    if name == "%":
        return ExactUnit(PaperColumn.PERCENT, 1.0)
    seconds = _SECONDS.get(name.lower().removesuffix(".").replace("\N{GREEK SMALL LETTER MU}", "µ"))
    if seconds is not None:
        return ExactUnit(PaperColumn.TIME, seconds)

    in_bytes = _BYTES.fullmatch(name)
    if in_bytes:
        factor = _factor_of_bytes(in_bytes["prefix"] or "", in_bytes["exponent"])
        return ExactUnit(PaperColumn.RATE if in_bytes["rate"] else PaperColumn.SIZE, factor)

    in_bits = _BITS.fullmatch(name)
    if in_bits:
        prefix = in_bits["prefix"] or in_bits["short_prefix"] or ""
        base = 1024 if prefix.endswith("i") else 1000
        return ExactUnit(PaperColumn.BITS, float(base ** _POWERS[prefix[:1].lower()]))
    return None


def _factor_of_bytes(prefix: str, exponent: str | None) -> float:
    if exponent:
        return float(10 ** int(exponent))
    return float(1024 ** _POWERS[prefix[:1].lower()])


def is_uncertain(text: str) -> bool:
    """Whether a text names a unit without an exact factor, such as ``MB/s``."""
    name = _in_latin(text)
    return unit_named(name) is None and _UNCERTAIN.fullmatch(name) is not None


def why_uncertain(text: str) -> str:
    """What a unit without an exact factor may be, and what to write instead."""
    name = _in_latin(text)
    match = _UNCERTAIN.fullmatch(name)
    prefix = (match["prefix"] or "").upper() if match else ""
    if not prefix:
        return f"{text} may be bits or bytes: write bit/s or Bytes/sec"

    power = _POWERS[prefix.lower()]
    a_second = "/s" if re.search(_A_SECOND, name, re.IGNORECASE) else ""
    may_be_bits = " or bits" if "b" in name and a_second else ""
    return (
        f"{text} may be {1000**power:,} or {1024**power:,} bytes{may_be_bits}: write {prefix}iB{a_second} for"
        f" {1024**power:,}, 10^{3 * power} Bytes{a_second} for {1000**power:,}"
    )


def without_unit(text: str) -> tuple[str, str]:
    """The numeral of a cell, and the unit behind it; empty for a cell without one."""
    # Most cells are plain digits, and a form may have a million of them.
    if text[-1:].isdecimal():
        return text, ""
    match = _NUMERAL_AND_UNIT.fullmatch(text.strip())
    return (match["numeral"], match["unit"].strip()) if match else (text, "")


_HEADING_WITH_UNIT = re.compile(r"(.*?)\s*(?:[(\[](.*)[)\]]|,\s*(\S+)| (?:in|en) (\S+)| ?/ (\S+))")
_HEADING_BEFORE_UNIT = re.compile(r"(.*\S)[ _](\S+)")
"""A heading with a unit as its last word: ``Size MiB``, ``elapsed_ms``."""

_WORDS_OF_SPEED = (
    "rate datarate transferrate speed throughput bandwidth"
    " durchsatz datenrate geschwindigkeit débit vitesse taxa velocidade velocidad velocità prędkość hastighet скорость"
)
_WORDS_OF_HEADINGS = {
    PaperColumn.SIZE: "size filesize file data bytes sizeinbytes"
    " größe dateigröße taille tamanho tamaño dimensione rozmiar storlek размер",
    PaperColumn.TIME: "time times timesec duration elapsed elapsedtime"
    " zeit dauer durée temps tempo tiempo czas tid время",
    PaperColumn.RATE: f"bytes/sec bytes/s {_WORDS_OF_SPEED}",
    PaperColumn.BITS: f"bits/sec bits/s {_WORDS_OF_SPEED}",
}
"""What stands before a unit in headings, in small letters without blanks."""

_NOT_ALONE = frozenset(
    {"b", "o", "\N{CYRILLIC SMALL LETTER ES}", "min", "mins", "h", "hour", "hours", "minute", "minutes", "%"}
)
"""Units that are a heading only with a word before them: ``min`` alone is the least of something."""


def split_heading(heading: str) -> tuple[str, str]:
    """The words of a heading in small letters, and its unit: of ``Size (MiB)``, ``Time [ms]``, ``MiB/s``."""
    text = " ".join(heading.split())
    match = _HEADING_WITH_UNIT.fullmatch(text)
    if match:
        words, *units = match.groups()
        return words.replace(" ", "").lower(), next(unit for unit in units if unit is not None)

    # "Time min" is the least of all times to some.
    spaced = _HEADING_BEFORE_UNIT.fullmatch(text)
    if spaced and is_unit(spaced[2]) and spaced[2].lower() not in _NOT_ALONE:
        return re.sub(r"[ _]", "", spaced[1]).lower(), spaced[2]
    return "", text


def unit_of_heading(heading: str) -> ExactUnit | None:
    """The unit that a heading names, where its words are of the same column; None for any other heading."""
    words, name = split_heading(heading)
    unit = unit_named(name)
    if unit is None:
        return None
    if not words:
        return None if name.lower() in _NOT_ALONE else unit
    return unit if words in _WORDS_OF_HEADINGS.get(unit.column, "").split() else None


def uncertainty_in(headings: Iterable[str]) -> str:
    """What is wrong with the first unit without an exact factor among headings of sizes and rates; empty for none."""
    for heading in headings:
        words, name = split_heading(heading)
        is_of_column = not words or any(words in spellings.split() for spellings in _WORDS_OF_HEADINGS.values())
        if is_of_column and is_uncertain(name):
            return f"{visible(heading.strip()[:_LONGEST_CITED])!r}: {why_uncertain(name)}"
    return ""


def is_unit(text: str) -> bool:
    """Whether a text names a unit, with an exact factor or without one."""
    return unit_named(text) is not None or is_uncertain(text)
