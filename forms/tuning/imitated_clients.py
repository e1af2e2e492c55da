"""The clients that people have, as far as our own imitates them (``--like``): ``data/imitated_clients.toml``."""

from dataclasses import dataclass
from functools import cache

from forms.tuning.smb_conf import toml_data
from storage.plan import Imitated, Settings

TODAYS_WINDOWS = Imitated.WINDOWS_11_24H2
"""What a form says that an unsigned session leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImitatedClient:
    """What one of them asks of a server."""

    name: str
    """As in the middle of a sentence."""
    requires_signing: bool
    dialects: tuple[str, ...]
    """Such as ``3.1.1``, the oldest first."""
    signing: tuple[str, ...] = ()
    """The algorithms that it offers for 3.1.1, the preferred one first; empty where it names none."""
    ciphers: tuple[str, ...] = ()
    block_bytes: int | None = None
    """Of one request; None where the copying program chooses it. So is the next."""
    in_flight: int | None = None
    files_at_once: int
    """How many small files it copies at a time."""
    single_requests: bool
    """Whether small files are opened, moved and closed in requests of their own."""
    source: str
    not_imitated: str


def requires_signing(settings: Settings) -> bool:
    """Whether our client insists on it, by itself or as the client that it imitates."""
    return settings.sign or (settings.like is not None and imitated_client(settings.like).requires_signing)


def sends_single_requests(settings: Settings) -> bool:
    """Whether our client has no compounds for small files, by itself or as the client that it imitates."""
    return settings.single_requests or (settings.like is not None and imitated_client(settings.like).single_requests)


@cache
def imitated_client(key: Imitated) -> ImitatedClient:
    row = toml_data("imitated_clients.toml")[key.value]
    return ImitatedClient(
        name=row["name"],
        requires_signing=row["requires_signing"],
        dialects=tuple(row["dialects"]),
        signing=tuple(row.get("signing", ())),
        ciphers=tuple(row["ciphers"]),
        block_bytes=row.get("block_bytes"),
        in_flight=row.get("in_flight"),
        files_at_once=row["files_at_once"],
        single_requests=row["single_requests"],
        source=row["source"],
        not_imitated=row["not_imitated"],
    )
