"""Forms as JSON: one object, or an array of them where there are several forms."""

from __future__ import annotations

import json
from collections.abc import Sequence

from forms.sheet import Sheet


def render(sheets: Sequence[Sheet], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    """The forms' documents in UTF-8; text that UTF-8 cannot hold (half of a surrogate pair) is escaped."""
    documents = [sheet.document() for sheet in sheets]
    content = documents[0] if len(documents) == 1 else documents
    try:
        return _dumped(content, ascii_only=False).encode()
    except UnicodeEncodeError:
        return _dumped(content, ascii_only=True).encode()


def _dumped(content: object, *, ascii_only: bool) -> str:
    return json.dumps(content, indent=1, ensure_ascii=ascii_only, allow_nan=False) + "\n"
