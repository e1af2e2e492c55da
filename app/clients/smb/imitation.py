"""Speaks to a server as a client that people have: ``--like``. What each of them does is in `imitated_clients`."""

import os
from collections.abc import Mapping
from dataclasses import replace

from app.clients.smb import wire
from app.clients.smb.negotiate import Offer
from app.clients.smb.protection import CIPHER_NAMES, SIGNING_NAMES
from forms.tuning.imitated_clients import imitated_client, requires_signing, sends_single_requests
from storage.plan import Settings


def offer_of(settings: Settings) -> Offer:
    """What the client announces before the login."""
    guid = os.urandom(16)
    if settings.like is None:
        return Offer(client_guid=guid, sign=settings.sign)

    client = imitated_client(settings.like)
    return Offer(
        client_guid=guid,
        sign=settings.sign,
        dialects=_numbers(client.dialects, wire.DIALECTS),
        signing=_numbers(client.signing, SIGNING_NAMES),
        ciphers=_numbers(client.ciphers, CIPHER_NAMES),
    )


def no_common_dialect_text(settings: Settings) -> str:
    """What is wrong where the server speaks no dialect of the offer (MS-SMB2 3.3.5.4), and what to do."""
    if settings.like is None:
        return "the server speaks no dialect of SMB from 2.0.2 to 3.1.1; look at its `server max protocol`"

    client = imitated_client(settings.like)
    oldest = client.dialects[0]
    newest = client.dialects[-1]
    return (
        f"{client.name} speaks SMB {oldest} to {newest}, and the server none of these dialects: raise its `server max"
        " protocol`, or leave out --like"
    )


def with_imitation(settings: Settings) -> Settings:
    """The settings, with those of the imitated client where nothing else was asked for."""
    if settings.like is None:
        return settings

    client = imitated_client(settings.like)
    return replace(
        settings,
        sign=requires_signing(settings),
        block_bytes=settings.block_bytes or client.block_bytes,
        in_flight=settings.in_flight or client.in_flight,
        single_requests=sends_single_requests(settings),
    )


def with_files_imitated(settings: Settings) -> Settings:
    """The settings for many small files: in flight are then as many files as the imitated client copies at once."""
    if settings.like is None or settings.in_flight is not None:
        return settings
    return replace(settings, in_flight=imitated_client(settings.like).files_at_once)


def _numbers(names: tuple[str, ...], name_by_number: Mapping[int, str]) -> tuple[int, ...]:
    """Of dialects or algorithms, in the order of the names."""
    number_by_name = {name: number for number, name in name_by_number.items()}
    return tuple(number_by_name[name] for name in names)
