"""Dates and times as people of several countries write them: ``2026-01-31 10:00``, ``31.01.2026``, ``Jan 31, 2026``.

A date is read where only one day can be meant. ``02/01/2026`` is a day of January or of February: another date of the
same file may tell, or it is refused.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from itertools import count

from storage import json_reader

_MONTHS = (
    "january januar janvier enero gennaio januari janeiro",
    "february februar février fevrier febrero febbraio februari fevereiro",
    "march märz maerz mars marzo maart março marco",
    "april avril abril aprile",
    "may mai mayo maggio mei maio",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre decembre diciembre dicembre dezembro",
)
"""In English, German, French, Spanish, Italian, Dutch and Portuguese; a text may have their first letters alone."""

_LEAST_LETTERS = 3
"""Of the name of a month."""

_NUMBERS = re.compile(r"(?<!\d)(\d{1,4})([-/.])\s?(\d{1,2})\2\s?(\d{1,4})(?!\d)")
_WORD = r"([^\W\d_]{3,})"
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"
_DAY_MONTH_YEAR = re.compile(
    rf"(?<!\d){_ORDINAL}[ .-]+(?:de )?{_WORD}[ .,-]+(?:de )?(\d{{4}}|\d\d)(?!\d)", re.IGNORECASE
)
_MONTH_DAY_YEAR = re.compile(rf"{_WORD}[ .-]+{_ORDINAL}(?:,\s*|[ -]+)(\d{{4}})(?!\d)", re.IGNORECASE)
_AS_DATE_PRINTS = re.compile(
    rf"(?:{_WORD} +(\d{{1,2}})|(\d{{1,2}})\.? {_WORD}) (\d\d:\d\d(?::\d\d)?(?: [AP]M)?"
    r"(?: (?:[A-Z]{3,5}|[+-]\d\d(?:\d\d)?))?) (\d{4})(?!\d)",
    re.IGNORECASE,
)
"""The command ``date``: ``Sat Jan 31 10:00:00 UTC 2026``, ``Sa 31. Jan 10:00:00 CET 2026``; its year stands last."""

_TIME = re.compile(
    r"^(?:t|,|um|at|à)?\s*(\d{1,2})(?:[:h]|(?<=\d)\.(?=\d\d\b))(\d\d)(?:[:.](\d\d)(?:[.,]\d+)?)?\s*([ap]\.?m\b\.?)?",
    re.IGNORECASE,
)
"""A time of the day behind a date; its zone follows."""

_OFFSET = re.compile(r"[(\[]?(?:(?:UTC|GMT|Z) ?)?([+\-\N{MINUS SIGN}])(\d{1,2})(?::?(\d\d))?(?![\d:])", re.IGNORECASE)
"""How far a zone is from UTC: ``+01:00``, ``-0800``, ``UTC+1``."""

_HOURS_OF_ZONES = {
    "z utc gmt wet": 0,
    "cet mez west": 1,
    "cest mesz eet sast": 2,
    "eest msk": 3,
    "jst kst": 9,
    "aest": 10,
    "aedt": 11,
    "nzst": 12,
    "nzdt": 13,
    "edt": -4,
    "est cdt": -5,
    "mdt": -6,
    "mst pdt": -7,
    "pst akdt": -8,
    "akst": -9,
    "hst": -10,
}
"""Names of zones that one offset has, in small letters; those of the United States are as RFC 5322 has them."""

_FARTHEST_MINUTES = 14 * 60
"""From UTC, of any zone."""

_ZONE_NAME = re.compile(r"[(\[]?([A-Z]{1,5}|utc|gmt|z)\b")
_PLACE_NAME = re.compile(r"[(\[]?([A-Z][A-Za-z]+/[A-Z][A-Za-z_/]+|local\b(?: time)?|Ortszeit\b)", re.IGNORECASE)
_WORDS_BEFORE_ZONE = re.compile(r"(?:uhr|h|hrs|hours|o'clock)\b\.?\s*", re.IGNORECASE)

_FIRST_YEAR = 1990
"""Before the first Samba nothing was measured that a form tells of."""
_CENTURY = 2000

_LONGEST = 200
"""Characters of a text in which a date is looked for."""

_EXPECTED = "expected a date such as 2026-01-31 10:00"


def moment_in(text: str, day_first: bool | None) -> str:
    """The moment that a text begins with, as the notebook has it; UTC, unless an offset or a zone is told.

    ``day_first`` says whether 02/01/2026 is in January. Raises DocumentError for a text without a date, or with one
    that may be another day.
    """
    days, rest = _days_in(text)
    if len(days) > 1 and day_first is not None:
        days = [(is_day_first, day) for is_day_first, day in days if is_day_first in (None, day_first)]

    moments = sorted({day for _, day in days})
    if not moments:
        raise _wrong(text)
    if len(moments) > 1:
        readings = " or ".join(f"{day:%Y-%m-%d}" for day in moments)
        raise json_reader.DocumentError(f"Measured: {text[:40]!r} may be {readings}: write it so")
    return json_reader.moment_text(_at_time_of_day(moments[0], rest, text))


def check_possible(moment: str, text: str) -> None:
    """Raises DocumentError for a moment that is yet to come, or before anything was measured."""
    day = datetime.fromisoformat(moment)
    if day > datetime.now(UTC) + timedelta(days=1):
        raise json_reader.DocumentError(f"Measured: {text[:40]!r} is yet to come: {_EXPECTED}")
    if day.year < _FIRST_YEAR:
        raise json_reader.DocumentError(f"Measured: {text[:40]!r} is before {_FIRST_YEAR}: {_EXPECTED}")


def is_day_first(texts: Iterable[str]) -> bool | None:
    """Whether the dates of a file have the day before the month, by those that tell; None where none or both do."""
    orders: set[bool] = set()
    for text in texts:
        days, _ = _days_in(text)
        if len(days) == 1:
            orders.update(order for order, _ in days if order is not None)
    return orders.pop() if len(orders) == 1 else None


_Day = tuple[bool | None, datetime]
"""A day that a text may mean, and whether it is so with the day before the month; None where no order is in doubt."""


def _days_in(text: str) -> tuple[list[_Day], str]:
    """The days that the first date of a text may mean, and the text beside it, where a time may stand."""
    text = text[:_LONGEST]
    as_date_prints = _AS_DATE_PRINTS.search(text)
    if as_date_prints:
        month, day, day_first, month_last, time, year = as_date_prints.groups()
        return _day(
            int(year), _month(month or month_last), int(day or day_first)
        ), f"{time}{text[as_date_prints.end() :]}"

    numbers = _NUMBERS.search(text)
    if numbers:
        return _days_of_numbers(*numbers.group(1, 3, 4), separator=numbers[2]), _text_beside(numbers)

    day_first = _DAY_MONTH_YEAR.search(text)
    if day_first:
        return _day(_year(day_first[3]), _month(day_first[2]), int(day_first[1])), _text_beside(day_first)

    month_first = _MONTH_DAY_YEAR.search(text)
    if month_first:
        return _day(_year(month_first[3]), _month(month_first[1]), int(month_first[2])), _text_beside(month_first)
    return [], text


def _text_beside(date: re.Match[str]) -> str:
    """The text behind a date, else that before it."""
    return date.string[date.end() :].strip() or date.string[: date.start()].strip()


def _days_of_numbers(first: str, second: str, third: str, *, separator: str) -> list[_Day]:
    """The days that three numbers may mean."""
    if len(first) == 4:
        return _day(int(first), int(second), int(third))
    if len(first) > 2 or len(third) not in (2, 4):
        return []

    year = _year(third)
    days = _day(year, int(second), int(first), day_first=True)
    if separator != ".":
        # With dots, no country has the month first.
        days += _day(year, int(first), int(second), day_first=False)
    if len(third) == 4:
        return days

    # 26-01-31 may begin with its year. Of the readings of two digits only those count that can have been measured.
    if len(first) == 2:
        days += _day(_year(first), int(second), int(third))
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    return [(order, day) for order, day in days if day.year >= _FIRST_YEAR and day <= tomorrow]


def _day(year: int, month: int, day: int, *, day_first: bool | None = None) -> list[_Day]:
    """The day, in a list; an empty one for a day that there is not."""
    try:
        return [(day_first, datetime(year, month, day, tzinfo=UTC))]
    except ValueError:
        return []


def _year(digits: str) -> int:
    """The year; of one with two digits, that in this century or, if it is yet to come, in the one before."""
    year = int(digits)
    if len(digits) > 2:
        return year
    year += _CENTURY
    return year if year <= datetime.now(UTC).year + 1 else year - 100


def _month(name: str) -> int:
    """The month from 1, by its name or the first letters of it; 0 where it is none, or may be two."""
    folded = name.lower()
    months = []
    for number, names in zip(count(1), _MONTHS, strict=False):
        begins_a_name = any(month.startswith(folded) for month in names.split())
        if begins_a_name or folded in _OTHER_SHORT_NAMES.get(number, ()):
            months.append(number)

    return months[0] if len(months) == 1 and len(folded) >= _LEAST_LETTERS else 0


_OTHER_SHORT_NAMES = {3: ("mrz",), 7: ("juill",), 9: ("sept",)}
"""Short names that are not the first letters of a month, or that are usual beside three letters."""


def _at_time_of_day(day: datetime, rest: str, text: str) -> datetime:
    """The moment of a day at the time that follows the date; at midnight where none does. Raises DocumentError."""
    rest = rest.strip().lstrip(",;").strip()
    match = _TIME.match(rest)
    if not match:
        if rest[:1].isdecimal():
            raise _wrong(text)
        return day

    hour = int(match[1])
    half = (match[4] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise _wrong(text)
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        moment = day.replace(hour=hour, minute=int(match[2]), second=int(match[3] or 0))
    except ValueError as error:
        raise _wrong(text) from error

    zone = _zone(rest[match.end() :].strip(), text)
    is_told_by_clock = match[3] is None and rest[:1].upper() != "T" and "-" in rest
    if is_told_by_clock and zone.utcoffset(None) <= -_time_of(moment):
        # 10:00-11:00 says from when to when rather than how far from UTC.
        raise json_reader.DocumentError(f"Measured: {text[:40]!r} may be from when to when: write the beginning alone")
    try:
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError as error:
        raise _wrong(text) from error


def _time_of(moment: datetime) -> timedelta:
    """The time of the day."""
    return timedelta(hours=moment.hour, minutes=moment.minute)


def _zone(behind: str, text: str) -> timezone:
    """The zone behind a time of the day, by its offset or its name; UTC where none is told.

    Raises DocumentError for an offset that there is not, and for a name that tells none.
    """
    behind = behind[_end_of(_WORDS_BEFORE_ZONE.match(behind)) :]
    offset = _OFFSET.match(behind)
    if offset:
        minutes = 60 * int(offset[2]) + int(offset[3] or 0)
        if minutes > _FARTHEST_MINUTES:
            raise _wrong(text)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))

    place = _PLACE_NAME.match(behind)
    if place:
        raise _unknown_zone(place[1], text)
    name = _ZONE_NAME.match(behind)
    if name is None:
        return UTC

    hours = _hours_of(name[1])
    if hours is not None:
        return timezone(timedelta(hours=hours))
    if name[1].isupper() and len(name[1]) > 1:
        raise _unknown_zone(name[1], text)
    # Another word, such as "by night".
    return UTC


def _end_of(match: re.Match[str] | None) -> int:
    return match.end() if match else 0


def _hours_of(zone_name: str) -> int | None:
    """How many hours a zone is ahead of UTC; None for a name that is none, or of several zones."""
    for names, hours in _HOURS_OF_ZONES.items():
        if zone_name.lower() in names.split():
            return hours
    return None


def _unknown_zone(zone_name: str, text: str) -> json_reader.DocumentError:
    return json_reader.DocumentError(
        f"Measured: {text[:40]!r}: the zone {zone_name} does not tell how far it is from UTC: write it as +01:00"
    )


def _wrong(text: str) -> json_reader.DocumentError:
    return json_reader.DocumentError(f"Measured: {_EXPECTED}, found {text[:40]!r}")
