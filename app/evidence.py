"""Recordings signed with an ssh key (OpenSSH, PROTOCOL.sshsig), verifiable without the notebook.

Signed is every byte of the JSON before the last member ``signature``, whose form is canonical: none can be changed.
"""

import base64
import binascii
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app import __version__, importing, kinds
from app.child_process import clean_environment
from app.errors import MissingProgramError, UsageError
from forms.layout import json_escaped, visible
from storage.json_reader import DocumentError
from storage.notebook import Notebook

SCHEMA, NAMESPACE = "sharebench/evidence/1", "sharebench"
UNCHANGED, CHANGED, NOT_SIGNED = 0, 1, 2
_MEMBER = b',\n "signature": "'
_END = b'"\n}\n'
_FIRST, _LAST = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_KEY = re.compile(r"(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[\w@.-]+\s+[A-Za-z0-9+/]+=*)(?=\s|$)")
_SECONDS = 120.0
_SAME = 1e-9
_COMPUTED = {"average", "deviation"}


@dataclass(frozen=True, slots=True)
class Verified:
    exit_code: int
    text: str


def sign(documents: Sequence[Any], key: Path) -> bytes:
    """A signed file of these documents. Raises UsageError, MissingProgramError."""
    content = {"schema": SCHEMA, "version": __version__, "recordings": list(documents)}
    text = json_escaped(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
    signed = text.removesuffix("\n}").encode()
    done = _ssh_keygen(signed, "sign", "-f", str(key))
    armor = done.stdout.decode(errors="replace").split()
    if done.returncode:
        *_, last = ("ssh-keygen gave no signature", *done.stderr.decode(errors="replace").strip().splitlines())
        raise UsageError(f"{key} does not sign: {visible(last)[:200]}; name an ssh key, such as ~/.ssh/id_ed25519")
    return signed + _MEMBER + "".join(armor[3:-3]).encode() + _END


def verify(content: bytes, keys: Sequence[Path] = ()) -> Verified:
    """Checks the signature, against ``keys`` if given. Raises MissingProgramError."""
    allowed = [found for path in keys for found in _keys_in(path)]
    signed, mark, rest = content.rpartition(_MEMBER)
    if not mark and SCHEMA.encode() in content:
        return Verified(CHANGED, "Changed: it is not laid out as it was written.")
    if not mark:
        return Verified(NOT_SIGNED, "Not signed: this is no file of `sharebench export --sign`.")
    signature = _decoded(rest.removesuffix(_END)) if rest.endswith(_END) else None
    if signature is None:
        return Verified(CHANGED, "Changed: the signature is not as it was written.")
    with tempfile.TemporaryDirectory() as folder:
        file, known = Path(folder) / "signature", Path(folder) / "keys"
        lines = [signature[at : at + 70] for at in range(0, len(signature), 70)]
        file.write_text("\n".join((_FIRST, *lines, _LAST, "")))
        known.write_text("".join(f'{NAMESPACE} namespaces="{NAMESPACE}" {key}\n' for key in allowed))
        checked = _ssh_keygen(signed, "check-novalidate", "-s", str(file))
        if checked.returncode:
            return Verified(CHANGED, "Changed: it is not what was signed.")
        by = re.search(r"SHA256:\S+", checked.stdout.decode(errors="replace"))
        who = by[0] if by else "an unknown key"
        if keys and _ssh_keygen(signed, "verify", "-f", str(known), "-I", NAMESPACE, "-s", str(file)).returncode:
            text = f"Not signed by a key that was given: {who} signed it, and it is unchanged since."
            return Verified(NOT_SIGNED, text)
    wrong = next(_differences(signed + b"\n}"), None)
    if wrong:
        return Verified(CHANGED, f"Changed before {who} signed it: {wrong}.")
    whose = "" if keys else " The file cannot say whose key that is: name the sender's key with --key."
    return Verified(UNCHANGED, f"Unchanged since {who} signed it; the averages follow from the runs.{whose}")


def _decoded(text: bytes) -> str | None:
    """None unless the base64 is canonical."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    return text.decode() if decoded and base64.b64encode(decoded) == text else None


def _keys_in(path: Path) -> list[str]:
    """From ``id_ed25519.pub`` or ``authorized_keys``. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read the key {path}: {error.strerror}") from error
    found = [match[1] for line in text.splitlines() if not line.startswith("#") for match in _KEY.finditer(line)]
    if not found:
        raise UsageError(f"{path} has no public key; name a file such as id_ed25519.pub, or authorized_keys")
    return found


def _ssh_keygen(text: bytes, what: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    command = ["ssh-keygen", "-Y", what, "-n", NAMESPACE, *words]
    try:
        return subprocess.run(
            command, input=text, capture_output=True, check=False, timeout=_SECONDS, env=clean_environment(LC_ALL="C")
        )
    except FileNotFoundError as error:
        why = "`ssh-keygen` signs and verifies, and is not installed: install OpenSSH's client"
        raise MissingProgramError(why) from error
    except subprocess.TimeoutExpired as error:
        why = f"`ssh-keygen` did not answer in {_SECONDS:.0f} s: is the key behind a question?"
        raise MissingProgramError(why) from error


def _differences(content: bytes) -> Iterator[str]:
    try:
        documents = json.loads(content)["recordings"]
        found = [importing.recording_in(document) for document in documents]
        with tempfile.TemporaryDirectory() as folder, Notebook(Path(folder) / "notebook.db") as notebook:
            for document, recording in zip(documents, found, strict=True):
                importing.store(notebook, [recording], "the file", as_new=False)
                for head in notebook.recordings_of([recording.record.id]):
                    again = kinds.kind_of(head).form(notebook, head).document()
                    yield from (f"{place} of {head.id} is not what its runs give" for place in _unlike(document, again))
    except (DocumentError, UsageError, ValueError, KeyError, TypeError) as error:
        yield f"its recordings cannot be read ({visible(str(error))[:200]})"


def _unlike(one: Any, other: Any, place: str = "", *, inside: bool = False) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() & other.keys():
            yield from _unlike(one[key], other[key], f"{place}.{key}".lstrip("."), inside=inside or key in _COMPUTED)
    elif isinstance(one, list) and isinstance(other, list):
        for number, (left, right) in enumerate(zip(one, other, strict=False)):
            yield from _unlike(left, right, f"{place}[{number}]", inside=inside)
    elif inside and isinstance(one, int | float) and isinstance(other, int | float):
        if abs(one - other) > _SAME * max(abs(one), abs(other)):
            yield place
    elif inside and one != other:
        yield place
