"""A diagnosis once more, with all that was given for the first."""

from __future__ import annotations

from dataclasses import replace

from forms.diagnosis.same_again import command_to_repeat, typed_as_it_was
from storage.looks import Effort, StageName
from storage.plan import Imitated
from tests.diagnoses import HEALTHY

GIVEN = replace(
    HEALTHY,
    complaint=StageName.SMALL_FILES,
    only=(StageName.SMALL_FILES, StageName.FOLDERS),
    effort=Effort.QUICK,
    folder="old projects",
    server_ssh="root@nas",
    smb_conf="/opt/smb.conf",
    settings=replace(HEALTHY.settings, like=Imitated.WINDOWS_11_24H2),
    profile=True,
    from_host="desk",
)


def test_what_was_given_is_given_again():
    assert command_to_repeat(GIVEN) == (
        "sharebench diagnose smb://alice@nas/public --complaint small-files --only small-files,folders --link 1G"
        " --folder 'old projects' --server-ssh root@nas --smb-conf /opt/smb.conf --quick --like windows-11-24h2"
        " --profile --from desk"
    )


def test_what_was_not_given_is_left_out():
    plain = replace(HEALTHY, link_bits_per_second=None)
    assert command_to_repeat(plain) == "sharebench diagnose smb://alice@nas/public"
    assert typed_as_it_was(plain) == {"target": "smb://alice@nas/public"}


def test_no_link_is_given_where_the_bytes_cross_none():
    assert "link" in typed_as_it_was(HEALTHY)
    assert "link" not in typed_as_it_was(replace(HEALTHY, loopback=True))


def test_the_form_has_a_line_for_each():
    from app.diagnosis.screen import DiagnosisScreen

    lines = {line.key for line in DiagnosisScreen.LINES}
    assert set(typed_as_it_was(GIVEN)) == lines
    request = DiagnosisScreen.parse(typed_as_it_was(GIVEN))
    assert _asked(request) == _asked(GIVEN)


def _asked(diagnosis: object) -> list[object]:
    names = ("complaint", "only", "effort", "folder", "server_ssh", "smb_conf", "link_bits_per_second")
    return [getattr(diagnosis, name) for name in names]
