"""Numbers as the spreadsheets of each country write them.

A numeral is written with a decimal point or a decimal comma. Its thousands are grouped by the other of the two, by
blanks or by apostrophes. So ``1,234`` is 1234 or 1.234, and only other numbers of the same file tell which.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class DecimalSign(StrEnum):
    """What stands before the decimals of a number."""

    POINT = "."
    COMMA = ","

    @property
    def other(self) -> "DecimalSign":
        return DecimalSign.COMMA if self is DecimalSign.POINT else DecimalSign.POINT


_BLANKS = " \u00a0\u2007\u2009\u202f"
"""A blank, and those of typography: no-break, as wide as a digit, thin, and thin no-break."""
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
"""As Swiss locales group by."""
_BLANKS_OR_APOSTROPHES = re.compile(f"[{_BLANKS}{_APOSTROPHES}]")


def _pattern(decimal_sign: DecimalSign) -> re.Pattern[str]:
    """What a numeral with this decimal sign looks like: a whole part, grouped or not, with decimals or without."""
    point = re.escape(decimal_sign)
    comma = re.escape(decimal_sign.other)
    plain = rf"\d+(?:{point}\d*)?(?:[eE][+-]?\d+)?|{point}\d+"
    in_thousands = rf"[1-9]\d{{0,2}}(?P<group>[{comma}{_BLANKS}{_APOSTROPHES}])\d{{3}}(?:(?P=group)\d{{3}})*"
    # 18,12,898: in India only the last group has three digits.
    in_lakhs = rf"[1-9]\d?(?:{comma}\d\d)+{comma}\d{{3}}"
    return re.compile(rf"[+-]?(?:{plain}|(?:{in_thousands}|{in_lakhs})(?:{point}\d+)?)")


_PATTERNS = {sign: _pattern(sign) for sign in DecimalSign}
_LARGEST = 1e300
"""No number of a form is as large; beyond it, products would no longer be finite."""


def number_from(text: str, decimal_sign: DecimalSign) -> float | None:
    """The number that a text is; None where it is none, also where its thousands are grouped wrongly."""
    text = text.strip()
    # Most cells are plain digits, and a form may have a million of them.
    if not text.isdecimal():
        if not _PATTERNS[decimal_sign].fullmatch(text):
            return None
        text = _BLANKS_OR_APOSTROPHES.sub("", text)
        text = text.replace(decimal_sign.other, "").replace(decimal_sign, ".")

    number = float(text)
    return number if abs(number) < _LARGEST else None


def decimals_of(text: str, decimal_sign: DecimalSign) -> int:
    """How many digits a numeral has behind its decimal sign; below zero where an exponent leaves the last ones out."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    _, sign, fraction = mantissa.rpartition(decimal_sign)
    decimals = len(fraction) if sign and fraction.isdecimal() else 0
    return decimals - int(exponent) if exponent else decimals


@dataclass(frozen=True, slots=True)
class Readings:
    """What a text is with each decimal sign."""

    text: str
    with_point: float | None
    with_comma: float | None

    @property
    def only_sign(self) -> DecimalSign | None:
        """The one decimal sign with which the text is a number; None where it is one with both, or with neither."""
        if (self.with_point is None) == (self.with_comma is None):
            return None
        return DecimalSign.COMMA if self.with_point is None else DecimalSign.POINT

    @property
    def is_ambiguous(self) -> bool:
        """Whether it is another number with each of the signs: three digits behind a single one, ``1,234``."""
        are_numbers = self.with_point is not None and self.with_comma is not None
        return are_numbers and self.with_point != self.with_comma

    @property
    def sign(self) -> DecimalSign:
        """The sign in an ambiguous text: its decimals begin there, or its thousands."""
        return DecimalSign.COMMA if DecimalSign.COMMA in self.text else DecimalSign.POINT


def readings_of(text: str) -> Readings:
    text = text.strip()
    if text.isdecimal():
        number = number_from(text, DecimalSign.POINT)
        return Readings(text, number, number)
    return Readings(text, number_from(text, DecimalSign.POINT), number_from(text, DecimalSign.COMMA))


_RATE = re.compile(rf"([\d.,{_BLANKS}{_APOSTROPHES}]*\d)\s*([kmgtKMGT]?)(?:b|[bB]its?|bps|b/s|[bB]its?/s)?")
"""A link speed as people type it: a number, a prefix, and bits per second or nothing."""

_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def number_of_rate(text: str) -> str:
    """The numeral in ``1 Gb/s``, ``100M`` or ``10000000``; empty where the text is no rate."""
    match = _RATE.fullmatch(text.strip())
    return match[1] if match else ""


def rate_from(text: str, decimal_sign: DecimalSign) -> int | None:
    """Bits per second from ``1 Gb/s``, ``100M`` or ``10000000``; else None."""
    match = _RATE.fullmatch(text.strip())
    number = number_from(match[1], decimal_sign) if match else None
    if match is None or number is None:
        return None
    return round(number * _FACTORS[match[2].lower()]) or None
