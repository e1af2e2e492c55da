"""Toned texts on a screen: in the theme's colours, their words unchanged."""

from collections.abc import Iterable

from textual.content import Content

from forms.layout import Tone, Toned

STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "$success",
    Tone.BAD: "$error",
    Tone.CAUTION: "$warning",
    Tone.FAINT: "dim",
    Tone.DATA: "$primary",
}


def content_of(said: str | Toned) -> Content:
    """One text, as plain text in its colour."""
    toned = said if isinstance(said, Toned) else Toned(said)
    return Content.styled(toned.text, STYLES[toned.tone])


def joined(parts: Iterable[str | Toned], gap: str) -> Content:
    """Several texts, one after the other."""
    return Content(gap).join([content_of(part) for part in parts])
