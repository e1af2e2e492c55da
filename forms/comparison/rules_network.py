"""Findings about the network that take several series: the loopback no faster than it, and FTP and SMB both slow."""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.comparison.measured_series import (
    MeasuredSeries,
    by_host_and_command,
    fastest,
    has_both_places,
    with_averages,
    without_flushed,
)
from forms.findings import path
from forms.findings.finding import Finding, finding_from_texts
from storage import records

MUCH_FASTER = 1.2
"""The loopback should move this many times as much as the network, as it has no wire to wait for."""

FAST_BITS_PER_SECOND = 10e9
"""Such a network is about as fast as copying in memory, which is all loopback does."""

SLOW_PERCENT_OF_LINK = 60.0
"""One TCP stream that fills less than this of its link is slow."""

GOOD_PERCENT_OF_LINK = 80.0
"""One TCP stream fills this much of a sound link."""

SLOW_PERCENT_OF_WIRELESS = 35.0
"""The same of a wireless link's nominal rate, of which about 60 % is usual."""

_OTHER_DIRECTION = {records.Command.GET: records.Command.PUT, records.Command.PUT: records.Command.GET}


def loopback_no_faster(series: Sequence[records.Series]) -> Iterator[Finding]:
    """Loopback not much faster than the network: suspect the TCP/IP software (Using Samba)."""
    over_sockets = [
        measured for measured in with_averages(without_flushed(series)) if not measured.series.target.abilities.is_local
    ]
    for command in records.Command:
        of_command = [measured for measured in over_sockets if measured.series.command is command]
        # Bare TCP tells it without a disk and a server's work; only where it was not measured do files.
        bare_tcp = [measured for measured in of_command if measured.is_bare_tcp]
        candidates = bare_tcp if has_both_places(bare_tcp) else of_command

        for protocol in dict.fromkeys(measured.series.target.protocol for measured in candidates):
            group = [measured for measured in candidates if measured.series.target.protocol == protocol]
            near = fastest(measured for measured in group if measured.is_loopback)
            far = fastest(measured for measured in group if not measured.is_loopback)
            if near is None or far is None:
                continue
            is_much_faster = near.bytes_per_second >= MUCH_FASTER * far.bytes_per_second
            if is_much_faster or near.at_ceiling or _is_fast_network(far):
                continue
            yield finding_from_texts(
                "loopback-no-faster" if near.is_bare_tcp else "loopback-no-faster.disk",
                near.series,
                far.series,
                command=command,
                near=near.text,
                far=far.text,
            )


def both_slow(series: Sequence[records.Series]) -> Iterator[Finding]:
    """FTP and SMB both slow: the network only if the other direction or bare TCP is slow too."""
    groups = dict(by_host_and_command(without_flushed(series)))
    for (host, command), group in groups.items():
        over_link = [measured for measured in group if measured.percent_of_link is not None]
        smb = fastest(measured for measured in over_link if measured.is_smb)
        ftp = fastest(measured for measured in over_link if measured.is_ftp)
        if smb is None or ftp is None:
            continue
        back = fastest(groups.get((host, _OTHER_DIRECTION[command]), ()))
        bare_tcp = fastest(measured for measured in group if measured.is_bare_tcp)
        diagnosis = _diagnose_both_slow(command, smb=smb, ftp=ftp, bare_tcp=bare_tcp, back=back)
        if diagnosis is None:
            continue

        name, evidence = diagnosis
        texts = [
            measured.text if measured.series.command is command else f"{measured.series.command} by {measured.text}"
            for measured in evidence
        ]
        yield finding_from_texts(
            name,
            *(measured.series for measured in evidence),
            told=wording.listed(texts),
            command=command,
            host=wording.plain(host),
            back=_OTHER_DIRECTION[command],
        )


def _diagnose_both_slow(
    command: records.Command,
    *,
    smb: MeasuredSeries,
    ftp: MeasuredSeries,
    bare_tcp: MeasuredSeries | None,
    back: MeasuredSeries | None,
) -> tuple[str, list[MeasuredSeries]] | None:
    """The finding's name and the series that show it; None where one of both is fast, or something else limits it.

    ``back`` is the fastest series in the other direction.
    """
    if any(measured.at_ceiling or path.is_far(measured.series) for measured in (smb, ftp)):
        return None
    is_wireless = any(path.is_wireless(measured.series) for measured in (smb, ftp))
    slow_percent = SLOW_PERCENT_OF_WIRELESS if is_wireless else SLOW_PERCENT_OF_LINK
    if any((measured.percent_of_link or 0) >= slow_percent for measured in (smb, ftp)):
        return None

    evidence = [smb, ftp] if bare_tcp is None else [bare_tcp, smb, ftp]
    with_back = evidence if back is None else [*evidence, back]
    is_link_sound = bare_tcp is not None and (bare_tcp.percent_of_link or 0) >= GOOD_PERCENT_OF_LINK
    back_percent = None if back is None else back.percent_of_link or 0

    # Bare TCP tells of the link by itself; without it the other direction shows whether the link is sound.
    if bare_tcp is None and back_percent is not None and back_percent >= GOOD_PERCENT_OF_LINK:
        return f"server-slow.{command}", with_back
    if is_wireless and not is_link_sound:
        return "wireless-slow", evidence
    if bare_tcp is not None:
        return ("server-slow" if is_link_sound else "network-slow.bare"), evidence
    if back_percent is not None and back_percent < slow_percent:
        return "network-slow", with_back
    return ("network-or-disk" if back is None else "network-or-disk.both"), with_back


def _is_fast_network(far: MeasuredSeries) -> bool:
    """Whether the network is so fast, and so well used, that the loopback need not be faster."""
    share = far.percent_of_link
    is_fast = (far.series.link_bits_per_second or 8 * far.bytes_per_second) >= FAST_BITS_PER_SECOND
    return is_fast and (share is None or share >= SLOW_PERCENT_OF_LINK)
