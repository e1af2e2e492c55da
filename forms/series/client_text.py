"""What a form says of a client: its name and its session."""

from forms import wording
from storage import records


def client_text(client: records.ClientFacts, *, unsigned_hint: str = "") -> str:
    """Name, version and session; ``unsigned_hint`` stands behind the words that it is not signed."""
    not_signed = f"not signed ({unsigned_hint})" if unsigned_hint else "not signed"
    parts = [f"{client.name} {client.version}".strip()]
    if client.dialect:
        parts.append(f"dialect {client.dialect}")
    if client.signing:
        parts.append(f"signed by {client.signing}" if client.is_signed else not_signed)
    if client.encryption:
        parts.append(f"encrypted by {client.encryption}" if client.is_encrypted else "not encrypted")
    if client.block_bytes:
        parts.append(f"blocks of {wording.binary_size(client.block_bytes)}")
    if client.in_flight:
        parts.append(f"{client.in_flight} in flight")
    return ", ".join(part for part in parts if part)
