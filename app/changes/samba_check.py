"""Checks a value for smb.conf by our own rules and by testparm on a copy."""

import base64
import shlex
from collections.abc import Iterator

from app.changes.server import ChangeRefusedError, read_there
from app.changes.smb_conf import LOG_LEVEL, ConfLine, SambaPlace, drop_in_content
from app.environment.samba import printed
from forms.tuning import smb_conf
from forms.tuning.trial_rules import Proposal, refusals
from storage.changes import ChangeKind


def check_value(place: SambaPlace, value: str) -> None:
    """Raises ChangeRefusedError."""
    proposal = Proposal(name=place.name, value=value, section=place.section, conf=place.conf)
    reasons = list(refusals(proposal, place.knows))
    if not reasons and place.kind is ChangeKind.SMB_CONF:
        reasons = list(_testparm_says(place, value))
    if reasons:
        raise ChangeRefusedError(f"{place.name} = {value} is refused: {'; '.join(reasons)}; nothing was written")


_CHECK = """
umask 077
file=$(mktemp) && exec 3<>"$file" && rm -f "$file" || exit 1
file=$(mktemp) && exec 4<>"$file" && rm -f "$file" || exit 1
copy=/proc/self/fd/3
printf '%s' "$old" | base64 -d >&3
printf '\\n[global]\\n    include = /proc/self/fd/4\\n' >&3
printf '%s' "$dropin" | base64 -d >&4
section testparm.err
testparm -s $copy 2>&1 >/dev/null
code=$?
section testparm.rc
echo $code
section effective
testparm -s --parameter-name="$name" ${share:+--section-name="$share"} $copy 2>/dev/null
code=$?
section effective.rc
echo $code
"""
"""The copy is in unlinked files, so it never outlives the script."""


def _testparm_says(place: SambaPlace, value: str) -> Iterator[str]:
    line = ConfLine(section=place.section, name=place.name, value=value)
    given = {
        "dropin": base64.b64encode(drop_in_content(place, "check", [line])).decode(),
        "old": base64.b64encode(place.state.files[place.conf].content or b"").decode(),
        "name": place.name,
        "share": "" if place.section == "global" else place.section,
    }
    answer = read_there("".join(f"{key}={shlex.quote(text)}\n" for key, text in given.items()) + _CHECK, place.ssh)
    if answer.problem:
        yield answer.problem
        return
    said = printed.warnings(answer.text("testparm.err"))
    bad = [line for line in said if line not in place.complaints and any(word in line for word in _COMPLAINTS)]
    if answer.code("testparm") != 0 or bad:
        yield f"testparm says: {'; '.join(bad or said[-2:]) or 'it does not load'}"
        return
    taken = answer.sections.get("effective", "").strip()
    if answer.code("effective") != 0:
        yield "testparm does not know it"
    elif place.name != LOG_LEVEL and not smb_conf.same_value(place.name, taken, value):
        yield f"Samba would take it as {taken or 'nothing'}"


_COMPLAINTS = ("Unknown parameter", "Ignoring", "nvalid value", "not boolean", "not a valid", "badly formed")
