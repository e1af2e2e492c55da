"""Signatures by ssh keys (PROTOCOL.sshsig of OpenSSH), which ssh-keygen makes and checks.

``signature`` is one line of base64 everywhere here; ssh-keygen reads and writes it in lines with a header.
"""

import base64
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.base.errors import MissingProgramError, UsageError
from forms.layout import visible
from storage.programs import ProgramResult, clean_environment, run_program

NAMESPACE = "sharebench"
"""A signature that was made for something else, such as git, does not count."""
_FIRST_LINE = "-----BEGIN SSH SIGNATURE-----"
_LAST_LINE = "-----END SSH SIGNATURE-----"
_LINE_CHARACTERS = 70
_ANSWER_SECONDS = 120.0
_MOST_REASON_CHARACTERS = 200
_KEY = r"(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+\s+[A-Za-z0-9+/]+=*(?=\s|$)"
_PLAIN_KEY_LINE = re.compile(rf"\s*{_KEY}")
_ANY_KEY = re.compile(rf"(?:^|\s){_KEY}", re.MULTILINE)
_LIMITED_ELSEWHERE = re.compile(r'\s*(?:cert-authority\b|@|[\w-]+=")')
"""A line of authorized_keys or known_hosts for an authority, a revoked key or under a condition: in allowed_signers no
line begins so, and ssh-keygen would take it for the name of somebody who may sign.
"""
_ANYBODY = "anybody"


def sign_text(text: bytes, key: Path) -> str:
    """The signature in one line of base64. Raises UsageError, MissingProgramError."""
    result = _run_ssh_keygen(text, "sign", "-f", str(key))
    if result.code:
        lines = result.error.decode(errors="replace").strip().splitlines()
        reason = visible(lines[-1])[:_MOST_REASON_CHARACTERS] if lines else "ssh-keygen gave no signature"
        raise UsageError(f"{key} does not sign: {reason}; name an ssh key, such as ~/.ssh/id_ed25519")

    armored = result.text
    return "".join(armored.replace(_FIRST_LINE, "").replace(_LAST_LINE, "").split())


def is_canonical(signature: bytes) -> bool:
    """Whether this is base64 that could not be written in another way: else a changed byte would go unseen."""
    try:
        decoded = base64.b64decode(signature, validate=True)
    except ValueError:
        return False
    return bool(decoded) and base64.b64encode(decoded) == signature


def fingerprint_of_signer(text: bytes, signature: str) -> str | None:
    """The signing key's fingerprint; None where the text is not what was signed. Raises MissingProgramError."""
    with _signature_file(signature) as file:
        result = _run_ssh_keygen(text, "check-novalidate", "-s", str(file))
    if result.code:
        return None
    fingerprint = re.search(r"SHA256:\S+", result.text)
    return fingerprint[0] if fingerprint else "an unknown key"


def is_by_allowed_signer(text: bytes, signature: str, key_files: Sequence[Path]) -> bool:
    """Whether one of the files lets the signing key sign, now and for sharebench, by ssh-keygen's own rules.
    Raises UsageError, MissingProgramError.
    """
    every_file = [_allowed_signers_in(path) for path in key_files]
    return any(_is_allowed(text, signature, signers) for signers in every_file)


def _is_allowed(text: bytes, signature: str, allowed_signers: str) -> bool:
    with _signature_file(signature) as file:
        signers_file = file.with_name("allowed_signers")
        signers_file.write_text(allowed_signers, encoding="utf-8")
        files = ("-f", str(signers_file), "-s", str(file))
        search = _run_ssh_keygen(b"", "find-principals", *files)
        principals = search.text.splitlines()
        return any(_run_ssh_keygen(text, "verify", "-I", name, *files).code == 0 for name in principals)


def _allowed_signers_in(path: Path) -> str:
    """The file as allowed_signers; a public key alone, as in ``id_ed25519.pub``, is anybody's. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read the key {path}: {error.strerror}") from error
    if not _ANY_KEY.search(text):
        raise UsageError(f"{path} has no public key; name a file such as id_ed25519.pub, or allowed_signers")

    lines = []
    for line in text.splitlines():
        if _PLAIN_KEY_LINE.match(line):
            lines.append(f"{_ANYBODY} {line.strip()}")
        elif not _LIMITED_ELSEWHERE.match(line):
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


@contextmanager
def _signature_file(signature: str) -> Iterator[Path]:
    """The signature as ssh-keygen reads it, in a folder of its own while the block lasts."""
    starts = range(0, len(signature), _LINE_CHARACTERS)
    lines = [signature[start : start + _LINE_CHARACTERS] for start in starts]
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        file = Path(folder) / "signature"
        file.write_text("\n".join((_FIRST_LINE, *lines, _LAST_LINE, "")), encoding="ascii")
        yield file


def _run_ssh_keygen(text: bytes, action: str, *words: str) -> ProgramResult:
    command = ["ssh-keygen", "-Y", action, *words]
    if action != "find-principals":  # which looks for keys, whatever they may sign
        command += ["-n", NAMESPACE]

    environment = clean_environment(LC_ALL="C")
    try:
        # It may ask for the passphrase of a key.
        return run_program(command, seconds=_ANSWER_SECONDS, given=text, environment=environment, may_ask=True)
    except FileNotFoundError as error:
        raise MissingProgramError(
            "`ssh-keygen` signs and verifies, and is not installed: install the package openssh-client (Debian,"
            " Ubuntu) or openssh-clients (Fedora)"
        ) from error
    except TimeoutError as error:
        raise MissingProgramError(
            f"`ssh-keygen` did not answer in {_ANSWER_SECONDS:.0f} s: is the key behind a question?"
        ) from error
