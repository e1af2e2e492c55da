"""What is asked before a survey: the lines to fill in, what stands in them at first, and how they are read."""

from collections.abc import Mapping, Sequence

from app.errors import UsageError
from app.tui.widgets.lines_screen import FormLine, remembered_values, typed_values, usual_values
from app.units import parse_size
from app.workflows.requests import SeriesOptions
from app.workflows.survey import SurveyChoices
from storage.plan import DEFAULT_RUNS
from storage.protocols import protocol_of
from storage.records import JSONValue, Target

MEMORY_KEY = "survey"
"""Under which the notebook keeps what was typed last."""


LINES = (
    FormLine(key="hosts", name="Hosts", hint="names or addresses; the server itself gives its loopback too"),
    FormLine(key="smb", name="SMB share", hint="SHARE or SHARE/FOLDER that can be written; empty: no SMB"),
    FormLine(key="ftp", name="FTP folder", hint="such as / or /upload; empty: no FTP"),
    FormLine(key="user", name="User", hint="USER or DOMAIN;USER; empty: guest and anonymous"),
    FormLine(key="ftp_user", name="FTP user", hint="where it is another one; anonymous: no user"),
    FormLine(key="runs", name="Runs", hint="measured runs of each series", usual=str(DEFAULT_RUNS)),
    FormLine(key="size", name="Size", hint="such as 512M or 1G; empty: some seconds of the link's rate"),
    FormLine(key="ports", name="Ports", hint="such as smb 4450, ftp 2121, iperf3 5301; empty: the usual ones"),
)


def first_values(remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
    """What stands in the lines: the practice servers where they are ready, else what was typed last."""
    if practice:
        values = usual_values(LINES)
        ports = {target.protocol: target.port for target in practice if target.abilities.in_survey}
        smb = next((target for target in practice if target.abilities.has_share), None)
        values["hosts"] = practice[0].host
        values["smb"] = (smb.share or "") if smb else ""
        values["ftp"] = "/" if "ftp" in ports else ""
        values["user"] = next((target.user for target in practice if target.user), "")
        values["size"] = "64M"
        values["ports"] = ", ".join(f"{protocol} {port}" for protocol, port in ports.items() if port)
        return values
    return remembered_values(LINES, remembered)


def read_choices(typed: Mapping[str, str]) -> SurveyChoices:
    """The choices that the lines say. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    hosts = tuple(text["hosts"].replace(",", " ").split())
    if not hosts:
        raise UsageError("which server? type its name or address, or 127.0.0.1 on the server itself")
    domain, _, user = text["user"].rpartition(";")
    return SurveyChoices(
        hosts=hosts,
        smb=text["smb"] or None,
        ftp=text["ftp"] or None,
        ports=_ports(text["ports"]),
        user=user or None,
        domain=domain or None,
        ftp_user=text["ftp_user"] or None,
        options=SeriesOptions(runs=_runs(text["runs"]), size_bytes=parse_size(text["size"]) if text["size"] else None),
    )


def _runs(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1000:
        raise UsageError(f"not a number of runs: {text!r}; 5 is usual, 10 show smaller differences")
    return int(text)


def _ports(text: str) -> dict[str, int]:
    ports = {}
    for part in text.replace(",", ";").split(";"):
        if not part.strip():
            continue
        protocol, _, number = part.strip().partition(" ")
        if not protocol_of(protocol).in_survey or not number.strip().isdecimal() or not 0 < int(number) < 65536:
            raise UsageError(f"not a port: {part.strip()!r}; write smb 4450, ftp 2121, iperf3 5301")
        ports[protocol] = int(number)
    return ports
