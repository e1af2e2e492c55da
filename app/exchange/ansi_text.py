"""Reads text of a form in the 8-bit code of a country ("ANSI"), where only one reading of it makes sense.

Excel saves "CSV" in the code page of its Windows, "CSV (Macintosh)" and "CSV (MS-DOS)" in others. No byte says which: a
reading that makes words and numbers of all bytes, as some language writes them, is one; two different ones are refused.
"""

import re
import unicodedata

from storage.json_reader import DocumentError

_ENCODINGS = (
    *("cp1252", "iso8859_15", "cp1250", "cp1251", "cp1253", "cp1254", "cp1257"),
    *("mac_roman", "mac_latin2", "mac_cyrillic", "cp850", "cp852", "cp437", "cp866", "koi8_r"),
    *("cp932", "gbk", "cp949", "cp950", "euc_jp"),
)
"""What spreadsheets and terminals write."""

_ALPHABETS = (
    "äöüß",
    "àâæçéèêëîïôœùûüÿ",
    "áéíóúüñ",
    "áâãàçéêíóôõúü",
    "àèéìíîòóùú",
    "éëïóöüáíúèê",
    "æøåéôò",
    "åäöéüà",
    "áðéíóúýþæö",
    "äöüõšž",
    "āčēģīķļņšūž",
    "ąčęėįšųūž",
    "ąćęłńóśźż",
    "áčďéěíňóřšťúůýž",
    "áäčďéíĺľňóôŕšťúýž",
    "čšžćđ",
    "áéíóöőúüű",
    "ăâîșțşţ",
    "çğ\u0131öşüâîi̇",
)
"""The letters beyond a to z of the languages that are written in Latin letters."""

_SIGNS = frozenset("\xa0\u2019\u2018“”„\u201a«»\u2039\u203a\u2013—…±°µ€£§×½¼¾²³·•ªº®©™")
_SIGNS_INSIDE_WORDS = frozenset("\xa0\u2019…·")
_DASHES = frozenset("\u2013—")
_FIRST_OTHER_BYTE = 0x80
_WORD_WITH_OTHER_BYTES = re.compile(rb"[^\s,;\"]*[\x80-\xff][^\s,;\"]*")
_MOST_WORDS = 5000
"""Different words with such bytes: a form has few."""


def utf_8_of(content: bytes) -> bytes | None:
    """The content in UTF-8; None where no code makes sense of it. Raises DocumentError where several read it unlike."""
    words = sorted(set(_WORD_WITH_OTHER_BYTES.findall(content)))
    if not words or len(words) > _MOST_WORDS:
        return None

    encoding_by_reading: dict[tuple[str, ...], str] = {}
    for encoding in _ENCODINGS:
        reading = _reading(words, encoding)
        if reading is not None:
            encoding_by_reading.setdefault(reading, encoding)
    if not encoding_by_reading:
        return None

    first, *others = encoding_by_reading
    if others:
        word, other_word = next(pair for pair in zip(first, others[0], strict=True) if pair[0] != pair[1])
        raise DocumentError(
            f"it is text in the code of one country (ANSI), and does not say of which: {word!r} may be {other_word!r};"
            " save it as CSV UTF-8, and import that file"
        )
    try:
        return content.decode(encoding_by_reading[first]).encode()
    except UnicodeDecodeError:
        return None


def _reading(words: list[bytes], encoding: str) -> tuple[str, ...] | None:
    """What the words are in that code; None where one of them makes no sense."""
    try:
        reading = tuple(word.decode(encoding) for word in words)
    except UnicodeDecodeError:
        return None

    text = " ".join(reading)
    if not all(map(_makes_sense, reading)) or not _has_pairs_of_quotes(text):
        return None
    if _is_of_ascii_pairs(words, reading):
        return None
    letters = {letter for letter in "".join(reading).lower() if not letter.isascii() and _script(letter) == "LATIN"}
    is_of_a_language = any(letters <= set(alphabet) for alphabet in _ALPHABETS)
    return reading if is_of_a_language else None


def _makes_sense(word: str) -> bool:
    """Whether each character beyond ASCII stands where people write it."""
    framed = f" {word} "
    if any(
        not _stands_well(*neighbours)
        for neighbours in zip(framed, framed[1:], framed[2:], strict=False)
        if not neighbours[1].isascii()
    ):
        return False
    return all(map(_is_written_word, re.findall(r"[^\W\d_]+", "".join(" " if c in _SIGNS else c for c in word))))


def _has_pairs_of_quotes(text: str) -> bool:
    """Whether what opens is closed: a sign alone is a letter of another code."""
    closings = text.count("“") + text.count("”")
    return (
        text.count("«") == text.count("»")
        and text.count("\u2039") == text.count("\u203a")
        and text.count("„") <= closings
    )


def _is_of_ascii_pairs(words: list[bytes], reading: tuple[str, ...]) -> bool:
    """Whether each pair of bytes that is one character ends in a letter of ASCII: two characters of another code."""
    characters = "".join(reading)
    ascii_characters = sum(map(str.isascii, characters))
    pairs = len(characters) - ascii_characters
    ascii_bytes = sum(byte < _FIRST_OTHER_BYTE for byte in b"".join(words))
    return pairs > 0 and ascii_bytes - ascii_characters == pairs


def _stands_well(before: str, character: str, after: str) -> bool:
    if character in _SIGNS:
        if character in _DASHES:
            return before.isalpha() == after.isalpha()
        is_inside = before.isalpha() and after.isalpha()
        return not is_inside or character in _SIGNS_INSIDE_WORDS
    # Of letters beside digits there are only units, which are signs here.
    return character.isalpha() and not before.isdigit() and not after.isdigit()


def _is_written_word(word: str) -> bool:
    """Whether its letters are of one script, capitals where words have them, and of Latin ones most are plain."""
    if word.isascii():
        return True

    scripts = set(map(_script, word))
    if len(scripts) != 1:
        return False
    if "ς" in word[:-1]:  # a letter that only ends words
        return False

    has_plain_case = word == word.upper() or word[1:] == word[1:].lower()
    beyond_ascii = sum(not letter.isascii() for letter in word)
    has_plain_letters = scripts != {"LATIN"} or beyond_ascii * 2 <= len(word) + 1
    return has_plain_case and has_plain_letters


def _script(letter: str) -> str:
    """``LATIN``, ``CYRILLIC``, ``CJK`` …"""
    name = unicodedata.name(letter, "")
    first_word = name.partition(" ")[0]
    # Japanese mixes these.
    return "CJK" if first_word in {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"} else first_word
