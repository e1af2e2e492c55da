"""The file of ``export --sign``: written, and verified without the notebook that it came from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app import __version__
from app.base.errors import UsageError
from app.evidence import recomputation, signature
from forms import importers
from forms.layout import json_escaped, visible
from storage.json_reader import DocumentError, JSONNode

SCHEMA = "sharebench/evidence/1"

# Exit codes of ``verify``.
UNCHANGED = 0
CHANGED = 1
NOT_SIGNED = 2

_SIGNATURE_MEMBER = b',\n "signature": "'
_END = b'"\n}\n'
_MEMBERS = {"schema", "version", "recordings"}
_MOST_REASON_CHARACTERS = 200
_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` says of a file."""

    exit_code: int
    text: str
    believed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By kind of recording, the names of the numbers that nothing in the file gives."""


def sign(documents: Sequence[Any], key: Path) -> bytes:
    """The evidence file, whose last member is the signature of all bytes before it.

    Raises UsageError, MissingProgramError.
    """
    content = {"schema": SCHEMA, "version": __version__, "recordings": list(documents)}
    text = json_escaped(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
    signed = text.removesuffix("\n}").encode()
    return signed + _SIGNATURE_MEMBER + signature.sign_text(signed, key).encode() + _END


def verify(content: bytes, key_files: Sequence[Path] = ()) -> Verified:
    """Whether the file is what was signed, and follows from what was measured.

    With key files it must also be signed by one of their keys. Raises UsageError, MissingProgramError.
    """
    signed, member, ending = content.rpartition(_SIGNATURE_MEMBER)
    if not member and b"sharebench/evidence/" in content:
        return Verified(CHANGED, "Changed: it is not laid out as it was written.")
    if not member:
        return Verified(NOT_SIGNED, "Not signed: this is no file of `sharebench export --sign`.")

    encoded = ending.removesuffix(_END)
    if not ending.endswith(_END) or not signature.is_canonical(encoded):
        return Verified(CHANGED, "Changed: the signature is not as it was written.")

    signer = signature.fingerprint_of_signer(signed, encoded.decode())
    if signer is None:
        return Verified(CHANGED, "Changed: it is not what was signed.")
    if key_files and not signature.is_by_allowed_signer(signed, encoded.decode(), key_files):
        text = f"Not signed by a key that was given: {signer} signed it, and it is unchanged since."
        return Verified(NOT_SIGNED, text)

    return _verify_content(signed, signer, is_sender_known=bool(key_files))


def _verify_content(signed: bytes, signer: str, *, is_sender_known: bool) -> Verified:
    try:
        believed = _recompute(signed + b"\n}")
    except recomputation.UnlikeError as error:
        return Verified(CHANGED, f"Changed before {signer} signed it: {error}.")
    except RecursionError:
        return Verified(CHANGED, f"Changed before {signer} signed it: it is nested deeper than any recording.")
    except (DocumentError, UsageError) as error:
        reason = visible(str(error))[:_MOST_REASON_CHARACTERS]
        return Verified(CHANGED, f"Changed before {signer} signed it: its recordings cannot be read ({reason}).")
    whose = "" if is_sender_known else " The file cannot say whose key that is: name the sender's key with --key."
    text = f"Unchanged since {signer} signed it; what its forms compute follows from what was measured.{whose}"
    return Verified(UNCHANGED, f"{text}\n{_believed_text(believed)}", believed)


def _believed_text(believed: Mapping[str, tuple[str, ...]]) -> str:
    parts = ["texts and times"]
    for kind, names in believed.items():
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        if names:
            parts.append(f"of the {kind}: {', '.join(names[:_MOST_NAMES])}{more}")
    return f"Not checked, since nothing in the file gives it: {'; '.join(parts)}."


def _recompute(text: bytes) -> dict[str, tuple[str, ...]]:
    """The numbers that had to be believed. Raises UnlikeError, DocumentError, UsageError."""
    importers.check_utf_8(text)
    documents = [document for _, document in importers.documents_of(importers.json_text_of(text))]

    # The whole file is one object.
    top = JSONNode("", documents[0]).object()
    if top.maybe("schema").value != SCHEMA:
        raise top.maybe("schema").wrong(f'"{SCHEMA}"')
    for name in top.value:
        if name not in _MEMBERS:
            raise DocumentError(f"{name}: is no part of such a file")

    recordings = top.at("recordings").items()
    if not recordings:
        raise DocumentError("recordings: there are none")
    version = top.at("version").filled_text()
    return recomputation.recompute([place.object().value for place in recordings], version)
