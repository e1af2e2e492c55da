"""Whether an SMB session shows that a parameter of Samba has a value: by its dialect, its signing, its encryption."""

import operator
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from forms.tuning.fact_names import facts_data
from forms.tuning.smb_conf import tidy_value
from storage.records import ClientFacts

_DIALECTS = ("2.0.2", "2.1", "3.0", "3.0.2", "3.1.1")
_PROTOCOL_DIALECTS = {"smb2_02": "2.0.2", "smb2": "2.1", "smb3_00": "3.0", "smb3_02": "3.0.2", "smb3": "3.1.1"}
"""The dialects that Samba's names of protocols mean."""
_SMB3 = _DIALECTS[2:]


def dialect_rank(dialect: str) -> int:
    """A dialect's place among all, the oldest first; -1 for an unknown one."""
    return _DIALECTS.index(dialect) if dialect in _DIALECTS else -1


def follows(difference: str, parameter: str) -> bool:
    """Whether a difference of that name, such as ``client.signing``, may follow from a change of the parameter."""
    return any(fnmatchcase(difference, pattern) for pattern in facts_data()["follow"].get(parameter, ()))


def contradiction(parameter: str, value: str, client: ClientFacts) -> str | None:
    """Why the session of that client contradicts the value; None where it does not, or nothing is known.

    By smb.conf(5) of Samba 4.17, and MS-SMB2 3.1.4.1.
    """
    check = _CHECKS.get(parameter)
    return check(tidy_value(parameter, value), client) if check and client.dialect else None


def agreement(parameter: str, value: str, before: ClientFacts, after: ClientFacts) -> str | None:
    """What of the session changed with the parameter; None where nothing did, or where it contradicts the value."""
    if contradiction(parameter, value, after):
        return None

    changes = []
    for part in ("dialect", "signing", "encryption"):
        part_before = getattr(before, part)
        part_after = getattr(after, part)
        if follows(f"client.{part}", parameter) and part_before != part_after:
            changes.append(f"{part} {part_before or 'unknown'} -> {part_after}")
    return ", ".join(changes) or None


def _encryption(value: str, client: ClientFacts) -> str | None:
    if client.is_encrypted:
        return f"the session is encrypted ({client.encryption})" if value == "no" else None
    if value == "required":
        return "the session is not encrypted"
    if value == "desired" and client.dialect in _SMB3:
        return "the session is not encrypted, although its dialect could be"
    return None


def _signing(value: str, client: ClientFacts) -> str | None:
    unsigned = not client.is_signed and not client.is_encrypted
    return "the session is not signed" if value == "required" and unsigned else None


def _encryption_algorithm(value: str, client: ClientFacts) -> str | None:
    return _algorithm(value, client.encryption, "encrypted with")


def _signing_algorithm(value: str, client: ClientFacts) -> str | None:
    return _algorithm(value.replace("aes-128-", "aes-"), client.signing, "signed with")


def _algorithm(value: str, negotiated: str | None, words: str) -> str | None:
    # With a sign the list is Samba's own, changed by that item: what it holds is not known.
    if negotiated in (None, "none") or any(item[:1] in "+-" for item in value.split()):
        return None
    return None if negotiated in value.split() else f"the session is {words} {negotiated}"


def _highest_dialect(value: str, client: ClientFacts) -> str | None:
    return _dialect(value, client, operator.le)


def _lowest_dialect(value: str, client: ClientFacts) -> str | None:
    return _dialect(value, client, operator.ge)


def _dialect(value: str, client: ClientFacts, is_within: Callable[[int, int], bool]) -> str | None:
    limit = _PROTOCOL_DIALECTS.get(value)
    if limit is None or client.dialect not in _DIALECTS:
        return None
    if is_within(dialect_rank(client.dialect), dialect_rank(limit)):
        return None
    return f"the session speaks SMB {client.dialect}"


_CHECKS: Mapping[str, Callable[[str, ClientFacts], str | None]] = {
    "server smb encrypt": _encryption,
    "server signing": _signing,
    "server smb3 encryption algorithms": _encryption_algorithm,
    "server smb3 signing algorithms": _signing_algorithm,
    "server max protocol": _highest_dialect,
    "server min protocol": _lowest_dialect,
}
