"""The checks of ``sharebench check`` beside the target: server settings, link, quiet time, ceiling of the client.

The ceiling of a client is what it moves at most on this machine with no network between, as it was calibrated.
"""

from collections.abc import Iterator

from app.base.child_process import Elsewhere
from app.check.checked import Checked, CheckState
from app.recording.ceiling import ceiling_of
from app.recording.spec import SeriesSpec
from app.server.changes.samba_place import writable_text
from app.server.facts import Environment
from app.server.link_facts import Link
from app.server.quiet_watch import QuietWatch
from app.server.routes import is_this_machine
from forms import wording
from forms.audit import share_access
from forms.findings.path import full_link_text
from forms.findings.rules_server import harmful_in
from forms.findings.series_warnings import CEILING_PERCENT
from storage import records
from storage.notebook import Notebook


def link_bits_per_second(spec: SeriesSpec, environment: Environment) -> int | None:
    """The speed that was named with ``--link``, else that of the card; None where neither is known."""
    return spec.link_bits_per_second or (environment.link.bits_per_second if environment.link else None)


def check_server(
    environment: Environment, audit: str, *, missing_options: str, is_share_open: bool = True
) -> Iterator[Checked]:
    """The server's program and its settings; ``audit`` is the command that judges all of them.

    ``missing_options``: what lets the settings be read where they were not. Of a share that the server does not open,
    nobody knows that its settings are all right.
    """
    version = environment.server.get("samba.version")
    if version:
        yield Checked("server", f"Samba {version}")

    harmful = harmful_in({"server": environment.server})
    for finding in harmful:
        text = f"harmful: {finding.setting} = {finding.value}. {finding.why} {finding.what_to_do}"
        yield Checked("settings", text, CheckState.ATTENTION, command=audit)
    is_share_closed = any(share_access.certain_causes(environment.server))
    if version and not harmful and not environment.problems and not is_share_closed:
        state = CheckState.FINE if is_share_open else CheckState.UNKNOWN
        text = "nothing harmful" if is_share_open else "nothing known to be harmful, and the share does not open"
        yield Checked("settings", f"{text}; `{audit}` judges them all", state)

    for path in str(environment.server.get("smb.conf.writable_by_all", "")).splitlines():
        yield Checked("server", writable_text(path), CheckState.ATTENTION)
    for problem in environment.problems:
        yield Checked("server", problem, CheckState.UNKNOWN, missing_options)


def missing_server_options(target: records.Target, spec: SeriesSpec) -> str:
    """The options that lead to the settings of a server that were not read: the way there, or then their file."""
    if spec.monitor.server_ssh is None and not is_this_machine(target.host):
        return f"--server-ssh root@{target.host}"
    return "--smb-conf FILE"


def check_link(target: records.Target, spec: SeriesSpec, environment: Environment) -> Checked:
    link = environment.link
    rate = link_bits_per_second(spec, environment)
    if link is None and not target.host:
        return Checked("link", "a local path needs none")
    if link is None:
        return Checked("link", "no way leads there; look at the routes (ip route)", CheckState.UNKNOWN)
    if link.loopback:
        as_said = f"; it is held against {wording.link_rate(rate)}, as you said" if rate else ""
        return Checked("link", f"the loopback of this machine, which has no rate{as_said}")

    text = _link_text(environment, link, rate)
    if link.duplex == "half":
        advice = "half duplex halves it; set card and switch to full or auto"
        return Checked("link", f"{text}: {advice}", CheckState.ATTENTION)
    if link.fastest_bits_per_second and rate and rate < link.fastest_bits_per_second:
        best = wording.link_rate(link.fastest_bits_per_second)
        advice = f"the card could do {best}; look at the cable, the switch's port and the card's settings"
        return Checked("link", f"{text}: {advice}", CheckState.ATTENTION)
    if not rate:
        return Checked("link", f"{text}; say it with --link RATE", CheckState.UNKNOWN)
    seen = link.bits_per_second
    if seen and rate > seen:
        # Less may be the speed of a slower link further on; more cannot be had through this interface.
        advice = f"{link.interface} runs at {wording.link_rate(seen)}; give that, unless several links are used at once"
        return Checked("link", f"{text}: {advice}", CheckState.ATTENTION, "--link auto")
    return Checked("link", text)


def _link_text(environment: Environment, link: Link, rate: int | None) -> str:
    parts = [link.interface, wording.link_rate(rate) if rate else "of unknown rate"]
    if link.duplex:
        parts.append(f"{link.duplex} duplex")
    if link.mtu_bytes:
        parts.append(f"MTU {link.mtu_bytes}")
    ceiling = environment.path.get("link.payload_ceiling_bits_per_second")
    if isinstance(ceiling, int | float):
        of_rate = f" ({full_link_text(ceiling / link.bits_per_second)})" if link.bits_per_second else ""
        parts.append(f"at most {wording.byte_rate(ceiling / 8)} of file content{of_rate}")
    return ", ".join(parts)


def check_quiet_time(target: records.Target, command: records.Command, environment: Environment) -> Checked:
    with QuietWatch(target, command, environment.link) as watch:
        quiet = watch.look()
    reasons = "; ".join(quiet.reasons)
    if quiet.verdict is records.QuietVerdict.BUSY:
        text = f"busy: {reasons}; measure at a quieter time, or wait for one"
        return Checked("quiet time", text, CheckState.ATTENTION, "--wait SECONDS")

    state = CheckState.UNKNOWN if quiet.verdict is records.QuietVerdict.UNKNOWN else CheckState.FINE
    text = f"{quiet.verdict.value}: {reasons}" if reasons else quiet.verdict.value
    return Checked("quiet time", text, state)


def check_ceiling(
    target: records.Target,
    spec: SeriesSpec,
    facts: records.ClientFacts,
    environment: Environment,
    notebook: Notebook,
    elsewhere: Elsewhere | None = None,
) -> Checked:
    """How fast the client could be at most on its machine, and whether that is too near the speed of the link.

    ``elsewhere``: the machine that measures; None for this one.
    """
    # The ceiling is looked up by a series: by the one that would be measured there.
    would_be = records.Series(
        id="",
        created_at=records.utc_now(),
        target=target,
        client=facts,
        command=spec.command,
        environment={"client": environment.client},
    )
    calibration = ceiling_of(would_be, notebook, elsewhere=elsewhere)
    ceiling = calibration.bytes_per_second
    if ceiling is None and calibration.busy:
        text = f"not calibrated: busy (others took {calibration.others_cpu_percent:.0f} % of the processors)"
        return Checked("ceiling", f"{text}; check again at a quieter time", CheckState.UNKNOWN)
    if ceiling is None:
        text = f"the own limit of {facts.name} on this machine cannot be calibrated; only sharebench's clients can"
        return Checked("ceiling", text, CheckState.UNKNOWN)

    text = f"this client moves {wording.byte_rate(ceiling)} at most on this machine"
    rate = link_bits_per_second(spec, environment)
    if rate and rate / 8 > ceiling * CEILING_PERCENT / 100:
        text += f", too near the link's {wording.link_rate(rate)}: measure with another client (--client) as well"
        return Checked("ceiling", text, CheckState.ATTENTION)
    return Checked("ceiling", text)
