"""Which values of a parameter of Samba are tried on a server, which are refused there, and which have a risk."""

import base64
from collections.abc import Iterator, Sequence

from app.base.errors import UsageError
from app.server import testparm
from app.server.changes import script
from app.server.changes.samba_place import LOG_LEVEL, ConfLine, SambaPlace
from app.server.changes.samba_plans import drop_in_content
from app.server.shell import script_file, with_variables
from forms.tuning import catalogue, smb_conf, trial_rules
from storage.changes import ChangeKind

SOCKET_OPTIONS = "socket options"
_COMPLAINTS = ("Unknown parameter", "Ignoring", "nvalid value", "not boolean", "not a valid", "badly formed")
"""Words of testparm's warnings that say that it does not take a line."""


def with_socket_option(options: str, option: str, size_bytes: int) -> str:
    """The value ``options`` of the parameter "socket options", with that buffer in place of what it said of it."""
    words = options.replace(",", " ").split()
    others = [word for word in words if word.partition("=")[0].upper() != option]
    return " ".join([*others, f"{option}={size_bytes}"])


def socket_option(name: str) -> str | None:
    """The socket option of that name, such as ``SO_SNDBUF``; None where it is none that smbd knows."""
    known_options = trial_rules.data()["socket_options"]
    word = name.strip().upper()
    if ":" in word:
        # As the catalogue calls it: "socket options: SO_SNDBUF".
        parameter, _, option = word.partition(":")
        word = option.strip() if parameter.strip() == SOCKET_OPTIONS.upper() else word
    return word if word in {*known_options["flags"], *known_options["numbers"]} else None


def parameter_of(name: str) -> str:
    """The parameter that a name means: its own, or that of the entry of the catalogue (``vfs objects: recycle``)."""
    if socket_option(name):
        return SOCKET_OPTIONS
    before_colon, colon, _ = name.partition(":")
    is_of_entry = colon and any(
        smb_conf.parameter_key(entry.parameter) == smb_conf.parameter_key(before_colon)
        for entry in catalogue.about(name)
    )
    return before_colon.strip() if is_of_entry else name


def untried_values(name: str, previous: str | None) -> list[str]:
    """The catalogue's values but the one that is set. Raises UsageError where there is none."""
    canonical_name = smb_conf.spelling(parameter_of(name)).name
    values: dict[str, None] = {}
    for entry in catalogue.about(name):
        if entry.kind is catalogue.EntryKind.SMB_CONF:
            values |= dict.fromkeys(entry.values)

    untried = [
        value for value in values if previous is None or not smb_conf.same_value(canonical_name, previous, value)
    ]
    if not untried:
        raise UsageError(f"the catalogue has no other value of {name} to try: name one, {name}=VALUE")
    return untried


def accepted_risks(
    name: str, previous: str, values: Sequence[str], accepted: Sequence[str], *, typed: str
) -> list[str]:
    """The risks of the values, a line each. Raises ConsentNeededError for one that was not accepted.

    ``accepted`` are the names whose risks the user accepts: the parameter's own name, or as it was ``typed``.
    """
    accepted_names = {smb_conf.spelling(parameter).name for parameter in accepted}
    accepted_names |= {parameter.strip().lower() for parameter in accepted}
    is_accepted = name in accepted_names or typed.strip().lower() in accepted_names

    risks = []
    for value in values:
        # What the server has already is no new risk.
        risk = None if smb_conf.same_value(name, previous, value) else trial_rules.risk_of(name, value)
        if risk is None:
            continue
        if not is_accepted:
            raise script.ConsentNeededError(
                f"{name} = {value} has a risk: {risk}; accept it, or leave it",
                risk_of=name,
                options=f"--accept-risk '{name}'",
            )
        risks.append(f"{name} = {value}: {risk}")
    return risks


def check_value(place: SambaPlace, value: str) -> None:
    """Raises ChangeRefusedError where our rules or the server's testparm do not allow the value there."""
    proposal = trial_rules.Proposal(name=place.name, value=value, section=place.section, conf=place.conf)
    reasons = list(trial_rules.refusals(proposal, place.knows))
    if not reasons and place.kind is ChangeKind.SMB_CONF:
        reasons = list(_testparm_reasons(place, value))
    if reasons:
        raise script.ChangeRefusedError(
            f"{place.name} = {value} is refused, and nothing was written: {'; '.join(reasons)}"
        )


def _testparm_reasons(place: SambaPlace, value: str) -> Iterator[str]:
    """Why the server's testparm does not take the value, which it is given in a copy of the configuration."""
    line = ConfLine(section=place.section, name=place.name, value=value)
    variables = {
        "dropin": base64.b64encode(drop_in_content(place, "check", [line])).decode(),
        "old": base64.b64encode(place.state.files[place.conf].content or b"").decode(),
        "name": place.own_name,
        "share": "" if place.section == "global" else place.section,
    }
    answer = script.read_there(with_variables(script_file("app.server.changes", "check.sh"), variables), place.ssh)
    if answer.problem:
        yield answer.problem
        return

    warnings = testparm.warnings(answer.text("testparm.err"))
    new_complaints = [line for line in warnings if line not in place.complaints and _is_complaint(line)]
    if answer.code("testparm") != 0 or new_complaints:
        yield f"testparm says: {'; '.join(new_complaints or warnings[-2:]) or 'it does not load'}"
        return

    effective = answer.stripped("effective")
    if answer.code("effective") != 0:
        yield "testparm does not know it"
    elif place.name != LOG_LEVEL and not smb_conf.same_value(place.name, effective, value):
        yield f"Samba would take it as {effective or 'nothing'}"


def _is_complaint(line: str) -> bool:
    return any(words in line for words in _COMPLAINTS)
