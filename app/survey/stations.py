"""The stations of a survey, from what was asked for; used to plan a survey.

A station is what one series of the survey measures: one protocol, in one direction (get or put), by one address of the
server. The address is the loopback or the own address where the server is this machine, else one in the network.
"""

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.base.errors import UsageError
from app.base.targets import join
from app.clients.base import Secrets
from app.recording.spec import SeriesRequest
from app.series.requests import series_request, with_label
from app.server import link_facts, routes
from app.survey.choices import ANONYMOUS, SurveyChoices
from forms.experiments import survey
from storage.protocols import PROTOCOLS
from storage.records import Command, Target

LogIn = Callable[[Target], tuple[Target, Secrets]]
"""Returns the target with its user name, and the secrets; may prompt."""

OUTSIDE_ADDRESS = "203.0.113.1"
"""A documentation address (RFC 5737); its route shows this machine's address. Nothing is sent."""

BUSY_SECONDS = 3
"""For so long a run keeps the link busy: short enough for many stations, long beside the start of a transfer."""
SMALLEST_BYTES = 16 * 1024**2
LARGEST_BYTES = 1024**3
UNKNOWN_LINK_BYTES = 512 * 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedStation:
    """A station that the choices ask for, whether it can be reached or not."""

    station: survey.Station
    request: SeriesRequest
    """Asks for its series."""
    link_bits_per_second: int | None
    """None within this machine, or where nobody knows."""


def wanted_stations(choices: SurveyChoices, log_in: LogIn) -> list[WantedStation]:
    """Every station that the choices ask for; logs in once for each address and protocol. Raises UsageError."""
    stations = []
    for place, host in places(choices.hosts):
        is_in_network = place is survey.StationPlace.NETWORK
        given_link = choices.spec.link_bits_per_second if is_in_network else None
        detected_link = None
        if is_in_network and not given_link:
            detected_link, _reason = link_facts.detect_link(host)
        link = given_link or detected_link
        size_bytes = choices.spec.counts.size_bytes or size_for(link)

        for target in _targets_on(choices, host):
            full_target, secrets = log_in(target)
            for command in choices.commands:
                station = survey.Station(place=place, host=host, protocol=target.protocol, command=command)
                request = _request_for(choices, station, full_target, secrets, size_bytes, given_link)
                stations.append(WantedStation(station=station, request=request, link_bits_per_second=link))
    return stations


def survey_targets(choices: SurveyChoices) -> list[Target]:
    """The target of each address and protocol, so that its password can be asked for. Raises UsageError."""
    return [target for _, host in places(choices.hosts) for target in _targets_on(choices, host)]


def places(hosts: Sequence[str]) -> list[tuple[survey.StationPlace, str]]:
    """The addresses to measure by, each with its place; this machine has loopback and its own address.

    Raises UsageError for an invalid name.
    """
    addresses: list[tuple[survey.StationPlace, str]] = []
    for host in hosts:
        _check_host(host)
        if routes.is_this_machine(host):
            addresses += _addresses_of_this_machine(host)
        else:
            addresses.append((survey.StationPlace.NETWORK, host))
    return list(dict.fromkeys(addresses))


def _check_host(host: str) -> None:
    if not host or not host.isprintable() or set(host) & set(" /@,"):
        text = f"not a host: {host!r}; name hosts or addresses, and user and share separately"
        raise UsageError(text, options="--user USER --smb SHARE[/FOLDER]")


def _addresses_of_this_machine(host: str) -> list[tuple[survey.StationPlace, str]]:
    """The loopback and this machine's own address; ``host`` is one of the two."""
    route = routes.find_route(host)
    is_loopback = route is not None and ipaddress.ip_address(route.address.partition("%")[0]).is_loopback
    if not is_loopback:
        return [(survey.StationPlace.LOOPBACK, "127.0.0.1"), (survey.StationPlace.OWN_ADDRESS, host)]

    addresses = [(survey.StationPlace.LOOPBACK, host)]
    outward_route = routes.find_route(OUTSIDE_ADDRESS)
    if outward_route and routes.is_own_address(outward_route.local_address):
        addresses.append((survey.StationPlace.OWN_ADDRESS, outward_route.local_address))
    return addresses


def size_for(link_bits_per_second: int | None) -> int:
    """Bytes that keep a link busy for some seconds: a power of two from 16 MiB to 1 GiB."""
    if link_bits_per_second is None:
        return UNKNOWN_LINK_BYTES

    size_bytes = SMALLEST_BYTES
    while size_bytes < link_bits_per_second / 8 * BUSY_SECONDS and size_bytes < LARGEST_BYTES:
        size_bytes *= 2
    return size_bytes


def _targets_on(choices: SurveyChoices, host: str) -> Iterator[Target]:
    """The FTP folder, the SMB share and the iperf3 server of one host, as far as they are asked for."""
    ports = {name: choices.ports.get(name, protocol.default_port) for name, protocol in PROTOCOLS.items()}
    if choices.ftp is not None:
        user = None if choices.ftp_user == ANONYMOUS else choices.ftp_user or choices.user
        yield Target(protocol="ftp", host=host, port=ports["ftp"], path="/" + choices.ftp.strip("/"), user=user)
    if choices.smb is not None:
        share, _, folder = choices.smb.strip("/").partition("/")
        server = Target(protocol="smb", host=host, port=ports["smb"], user=choices.user, domain=choices.domain)
        yield replace(server, share=share, path=folder.strip("/"))
    if choices.iperf3:
        yield Target(protocol="iperf3", host=host, port=ports["iperf3"])


def _request_for(
    choices: SurveyChoices, station: survey.Station, target: Target, secrets: Secrets, size_bytes: int, link: int | None
) -> SeriesRequest:
    """What asks for the series of a station; a get without a file named has one made first."""
    needs_no_file = not target.abilities.moves_files or station.command is Command.PUT
    existing_file = None if needs_no_file else choices.file
    counts = replace(
        choices.spec.counts,
        size_bytes=None if existing_file else size_bytes,
        make_file=not needs_no_file and not existing_file,
    )
    spec = replace(choices.spec, command=station.command, counts=counts, link_bits_per_second=link)
    full_target = replace(target, path=join(target, existing_file)) if existing_file else target
    return series_request(with_label(spec, station.name), full_target, secrets)
