"""A diagnosis once more as it was asked for: what is typed in its form, and the command."""

import shlex

from forms.diagnosis.chosen_complaint import chosen_complaint
from forms.wording import typed_rate
from storage.looks import Diagnosis, Effort
from storage.records import format_target

_OPTIONS = {
    "complaint": "--complaint",
    "only": "--only",
    "link": "--link",
    "folder": "--folder",
    "ssh": "--server-ssh",
    "conf": "--smb-conf",
}
"""By the line of the form."""


def typed_as_it_was(diagnosis: Diagnosis) -> dict[str, str]:
    """What stands in the form, by its lines; lines that were left empty are left out."""
    complaint = chosen_complaint(diagnosis)
    link = diagnosis.link_bits_per_second
    is_link_known = bool(link) and not diagnosis.loopback
    is_usual = diagnosis.effort is Effort.USUAL
    typed = {
        "target": format_target(diagnosis.target),
        "complaint": complaint.value if complaint is not None else "",
        "only": ",".join(diagnosis.only),
        "effort": "" if is_usual else diagnosis.effort.value,
        "link": typed_rate(round(link)) if link and is_link_known else "",
        "folder": diagnosis.folder or "",
        "ssh": diagnosis.server_ssh or "",
        "conf": diagnosis.smb_conf or "",
    }
    return {key: text for key, text in typed.items() if text}


def command_to_repeat(diagnosis: Diagnosis) -> str:
    """``sharebench diagnose smb://nas/public --complaint small-files --link 1G``"""
    typed = typed_as_it_was(diagnosis)
    words = ["sharebench", "diagnose", typed["target"]]
    for key, option in _OPTIONS.items():
        if key in typed:
            words += [option, typed[key]]
    if "effort" in typed:
        words.append(f"--{typed['effort']}")
    if diagnosis.settings.like:
        words += ["--like", diagnosis.settings.like]
    if diagnosis.profile:
        words.append("--profile")
    if diagnosis.from_host:
        words += ["--from", diagnosis.from_host]
    return shlex.join(words)
