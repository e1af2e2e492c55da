"""Configurations of public repositories, as settings alone, with other names, paths and addresses: each verdict was
checked with smb.conf(5), testparm and the source of Samba 4.17.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from forms.audit.audited_server import AuditedServer
from forms.audit.judge import judge
from forms.audit.remedies import proposed_diff
from forms.tuning.conf_file import read_conf
from storage.looks import AuditFinding

FOLDER = Path(__file__).parent / "public"
EXPECTED = tomllib.loads((FOLDER / "findings.toml").read_text())
PROTECTIONS = ("hosts ", "valid users", "server signing = m", "smb encrypt", "veto files", "vfs objects", "ntlm auth")


def findings_of(name: str) -> tuple[AuditFinding, ...]:
    text = (FOLDER / f"{name}.conf").read_text()
    conf = read_conf(name, {name: text})
    return judge(AuditedServer(conf=conf, path=name, facts={"samba.version": "4.17.12"}))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_findings_of_a_real_configuration(name: str):
    keys: dict[str, set[str]] = {}
    for finding in findings_of(name):
        keys.setdefault(finding.verdict.replace(" ", "_"), set()).add(finding.key)
    assert keys == {verdict: set(expected) for verdict, expected in EXPECTED[name].items()}


def test_there_are_forty():
    assert sorted(EXPECTED) == sorted(path.stem for path in FOLDER.glob("*.conf"))
    assert len(EXPECTED) == 40


@pytest.mark.parametrize("name", EXPECTED)
def test_the_edits_of_a_real_configuration_leave_what_protects(name: str):
    text = (FOLDER / f"{name}.conf").read_text()
    diff = proposed_diff(findings_of(name), {name: text}).splitlines()
    kept = " ".join(line[1:].strip() for line in diff if line.startswith("+"))
    for line in diff:
        setting = line[1:].strip()
        # A list of modules that loses one is still there.
        if line.startswith("-") and not line.startswith("---") and setting.startswith(PROTECTIONS):
            parameter = setting.partition("=")[0].strip()
            assert parameter in kept or "aio_pthread" in setting, setting
