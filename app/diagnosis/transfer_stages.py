"""Stages that move one large file: distance, signing and encryption, long run.

Bytes *in flight* are asked for and not answered yet. The server limits them by credits, each of which is its leave to
ask for 64 KiB (`wire.CREDIT_BYTES`); how many it grants at most is known after the login.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from app.base import errors
from app.clients import base
from app.clients.smb import client as smb_client
from app.clients.smb import protection as smb_protection
from app.clients.smb import transfer, wire
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import Share
from app.diagnosis import measures
from app.diagnosis.bench import LONG, Bench
from app.server.host_facts import read_text
from storage import looks
from storage.plan import Settings
from storage.records import FactValue

_BLOCK_BYTES = 256 * 1024
_TURNS_OF_A_WINDOW = 6
"""A read is this many times the bytes in flight."""
_WINDOW_ROUNDS = 2
_LEAST_READ_BYTES = 256 * 1024
_PROTECTED_BYTES = 1024 * 1024
"""The size of the message that this machine signs or encrypts, to find out how fast it does."""
_SIGNER_SECONDS = 0.1
"""How long this machine's own signing and encryption are measured."""
_MOST_SAMPLES = 600
"""Of the progress of a long run that are kept."""


def distance(bench: Bench) -> looks.Stage:
    """Round trips of empty requests, and throughput by bytes in flight."""
    path = bench.bulk()
    samples = measures.Samples(list)
    in_flight = measures.LARGEST_WINDOW_BYTES // _BLOCK_BYTES
    settings = replace(bench.plan.settings, block_bytes=_BLOCK_BYTES, in_flight=in_flight)
    with bench.connection(smb_client.SMBClient, settings) as client:
        share = client.connected_share()
        ends_at = time.monotonic() + bench.affordable_sizes.stage_seconds
        samples["echo_seconds"] += measures.echo_seconds(share, bench.affordable_sizes.echoes)

        facts: dict[str, FactValue] = dict(client.facts_of_path())
        largest_block_bytes = client.facts().block_bytes or wire.CREDIT_BYTES
        # A server whose largest answer is smaller than a credit needs more credits for the same bytes.
        granted_bytes = int(facts["smb.credits"]) * min(wire.CREDIT_BYTES, largest_block_bytes)
        window_sizes = _window_sizes(granted_bytes)

        file = share.open_file(path, wire.ACCESS_READ)
        for turn in range(_WINDOW_ROUNDS):
            for window_bytes in window_sizes:
                if turn and time.monotonic() > ends_at:
                    break
                block_bytes = min(window_bytes, largest_block_bytes)
                rate = _rate_with_window(share, file, window_bytes, block_bytes, base.Meter(bench.cancelled))
                samples[f"in_flight_{window_bytes}_bytes_per_second"].append(rate)
        share.close(file)
        samples["echo_seconds"] += measures.echo_seconds(share, bench.affordable_sizes.echoes)

    facts |= {"asked_bytes_in_flight": measures.LARGEST_WINDOW_BYTES, "granted_bytes_in_flight": granted_bytes}
    return measures.stage_of(looks.StageName.DISTANCE, samples, facts)


def _window_sizes(granted_bytes: int) -> list[int]:
    """Bytes in flight to measure with: from one credit to what the server grants, larger ones closer together."""
    largest_bytes = min(granted_bytes, measures.LARGEST_WINDOW_BYTES)
    smaller_bytes = {max(wire.CREDIT_BYTES, largest_bytes >> power) for power in (8, 4, 2, 1, 0)}
    return sorted({wire.CREDIT_BYTES, *smaller_bytes})


def _rate_with_window(
    share: Share, file: wire.OpenedFile, window_bytes: int, block_bytes: int, meter: base.Meter
) -> float:
    """Bytes a second of reading with that many bytes in flight, in requests of at most ``block_bytes``."""
    window = transfer.Window(block_bytes=block_bytes, in_flight=max(1, window_bytes // block_bytes))
    read_bytes = max(_LEAST_READ_BYTES, _TURNS_OF_A_WINDOW * window_bytes)
    return measures.read_part(share, file, read_bytes, window, meter)


def protection(bench: Bench) -> looks.Stage:
    """One file plain, signed and encrypted, as far as the server allows, interleaved in changing order."""
    path = bench.bulk()
    samples = measures.Samples(list)
    facts: dict[str, FactValue] = {}
    settings = bench.plan.settings
    modes = {"plain": settings, "signed": replace(settings, sign=True), "encrypted": replace(settings, encrypt=True)}
    ends_at = time.monotonic() + bench.affordable_sizes.stage_seconds

    for turn in range(bench.affordable_sizes.rounds):
        order = list(modes)
        first = turn % len(order)
        for mode in order[first:] + order[:first]:
            if turn and time.monotonic() > ends_at:
                break
            try:
                _measure_mode(bench, path, mode, modes[mode], samples, facts)
            except errors.LoginError:
                raise  # it is no mode that was refused
            except errors.MeasurementError as error:
                bench.check()  # a connection that was interrupted by a cancel fails, too
                if mode == "plain":
                    raise
                facts[f"{mode}.refused"] = str(error)
                del modes[mode]

    facts["dialect"] = bench.client_facts.dialect or "" if bench.client_facts else ""
    facts["signer_bytes_per_second"] = _signer_rate(str(facts.get("plain.signing", "none")))
    facts["cipher_bytes_per_second"] = _cipher_rate(str(facts.get("plain.encryption", "none")))
    facts["client.aes"] = _has_aes()
    return measures.stage_of(looks.StageName.PROTECTION, samples, facts)


def _measure_mode(
    bench: Bench,
    path: str,
    mode: str,
    settings: Settings,
    samples: measures.Samples,
    facts: dict[str, FactValue],
) -> None:
    with bench.connection(smb_client.SMBClient, settings) as client:
        client_facts = client.facts()
        path_facts = client.facts_of_path()
        facts[f"{mode}.signing"] = client_facts.signing or ""
        facts[f"{mode}.encryption"] = client_facts.encryption or ""
        facts["requires_signing"] = path_facts["smb.requires_signing"]

        transfer = client.get(path, base.Meter(bench.cancelled))
        samples[f"{mode}_bytes_per_second"].append(transfer.size_bytes / transfer.seconds)


def _has_aes() -> str:
    """Whether this machine's processor has instructions for AES: ``yes``, ``no`` or ``unknown``."""
    _, _, from_flags_on = (read_text("/proc/cpuinfo") or "").partition("flags")
    flags_line, _, _ = from_flags_on.partition("\n")
    flags = flags_line.split()
    if not flags:
        return "unknown"
    return "yes" if {"aes", "pclmulqdq"} <= set(flags) else "no"


def _signer_rate(algorithm: str) -> float:
    """Bytes a second that this machine signs; 0 for no algorithm that it knows."""
    codes = {name: code for code, name in smb_protection.SIGNING_NAMES.items()}
    if algorithm not in codes:
        return 0.0
    signer = smb_protection.Signer(codes[algorithm], bytes(16))
    message = memoryview(bytearray(_PROTECTED_BYTES))
    # As the answers of a server are signed, which bring the content of a file that is read.
    return _rate_of(partial(signer.sign, 1, message, from_server=True))


def _cipher_rate(algorithm: str) -> float:
    """Bytes a second that this machine encrypts; 0 for no algorithm that it knows."""
    codes = {name: code for code, name in smb_protection.CIPHER_NAMES.items()}
    if algorithm not in codes:
        return 0.0
    keys = smb_protection.Keys(bytes(16), wire.SMB_3_1_1, bytes(64), codes[algorithm])
    sealer = smb_protection.Sealer(codes[algorithm], keys, 1)
    message = memoryview(bytearray(_PROTECTED_BYTES))
    return _rate_of(partial(sealer.seal, b"", message))


def _rate_of(work: Callable[[], object]) -> float:
    """Bytes a second of work on a message of _PROTECTED_BYTES, done again and again for _SIGNER_SECONDS."""
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < _SIGNER_SECONDS:
        work()
        count += 1
    return count * _PROTECTED_BYTES / (time.perf_counter() - began)


class _EnoughError(Exception):
    """The run is long enough: raised in the meter, it ends the put."""


def long_run(bench: Bench) -> looks.Stage:
    """One long put, then the price of having it written to the disk."""
    path = bench.path(LONG)
    processors = measures.ProcessorsAtSamples()

    def sample(seconds: float, _moved: int) -> None:
        processors.look()
        if seconds > bench.affordable_sizes.stage_seconds:
            raise _EnoughError

    meter = base.Meter(bench.cancelled, on_sample=sample)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
    with bench.connection(smb_client.SMBClient) as client, suppress(_EnoughError):
        client.put(path, base.Content(bench.affordable_sizes.long_bytes), meter)

    with bench.connection(SMBFiles) as files:
        handle = files.open(path, base.OpenMode.UPDATE)
        began = time.perf_counter()
        files.flush(handle)
        flush_seconds = time.perf_counter() - began
        files.close_file(handle)
        files.remove(path)

    step = -(-len(meter.samples) // _MOST_SAMPLES) or 1
    samples = meter.samples[::step]
    return looks.Stage(
        name=looks.StageName.LONG_RUN,
        samples={
            "at_seconds": tuple(at for at, _ in samples),
            "moved_bytes": tuple(float(moved) for _, moved in samples),
            **processors.samples(step),
        },
        facts={"flush_seconds": flush_seconds},
    )
