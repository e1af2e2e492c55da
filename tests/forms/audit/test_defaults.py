"""A server as its packages leave it has nothing to mend, whatever its version: its smb.conf, and a dump of all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.audit import testparm_dump
from forms.audit.audited_server import AuditedServer
from forms.audit.harmful_settings import harmful_settings
from forms.audit.judge import judge
from forms.tuning import fact_names, smb_conf
from forms.tuning.conf_file import read_conf
from forms.tuning.samba_parameters import version_numbers
from storage.looks import AuditFinding, Ruling
from tests.forms.audit import defaults
from tests.forms.audit.configurations import BAD, REDPAPER, BadAdvice

CONF = "/etc/samba/smb.conf"


def findings(text: str, version: str = "") -> tuple[AuditFinding, ...]:
    server = AuditedServer(conf=read_conf(CONF, {CONF: text}), path=CONF)
    return judge(replace(server, facts={fact_names.SAMBA_VERSION: version}) if version else server)


def keys(text: str, version: str = "") -> set[str]:
    return {finding.key for finding in findings(text, version)}


@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_the_packages_smb_conf_is_healthy(version: str):
    text = defaults.untouched_conf(version)
    assert "workgroup = WORKGROUP" in text
    assert findings(text, version) == ()
    assert findings(text) == (), "of an unknown version"


@pytest.mark.varied
@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_a_dump_of_the_defaults_is_healthy(version: str):
    text = defaults.testparm_dump(version)
    assert text.count("\n") > 400
    assert findings(text, version) == ()
    assert findings(text) == (), "the dump tells its version"
    assert findings(f"Loaded services file OK.\nWeak crypto is allowed\n{text}") == (), "with what stood on stderr"


@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_the_defaults_that_a_recording_keeps_have_nothing_harmful(version: str):
    settings = read_conf(CONF, {CONF: defaults.testparm_dump(version)}).settings
    of_server = [setting for setting in settings if setting.section == "global"]
    facts = {f"{fact_names.PARAMETER_PREFIX}global/{setting.name}": setting.value for setting in of_server}
    assert harmful_settings({**facts, fact_names.SAMBA_VERSION: version}) == ()
    assert harmful_settings(facts) == ()


@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_a_dump_tells_its_version(version: str):
    settings = read_conf(CONF, {CONF: defaults.testparm_dump(version)}).settings
    assert testparm_dump.is_dump(settings)
    assert testparm_dump.version_of_dump(settings) == version_numbers(version)


@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_what_an_admin_wrote_is_no_dump(version: str):
    for text in (defaults.untouched_conf(version), *(advice.text for advice in BAD)):
        assert not testparm_dump.is_dump(read_conf(CONF, {CONF: text}).settings)


def test_half_of_all_parameters_makes_a_dump():
    lines = [line for line in defaults.testparm_dump("4.25").splitlines() if line.startswith("\t") and ":" not in line]
    count = len(smb_conf.parameters())
    enough = (count + 1) // 2
    names = list(dict.fromkeys(lines))

    def is_dump(taken: int) -> bool:
        text = "[global]\n" + "\n".join(names[:taken])
        return testparm_dump.is_dump(read_conf(CONF, {CONF: text}).settings)

    assert is_dump(enough)
    assert not is_dump(enough - 1)


@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_what_is_changed_is_judged_in_a_dump_as_well(version: str):
    text = defaults.testparm_dump(version)
    changed = text.replace("strict sync = Yes", "strict sync = No").replace(
        "aio write behind = \n", "aio write behind = /*.tmp/\n"
    )
    assert changed.count("strict sync = No") == 1
    harmful = {finding.setting for finding in findings(changed) if finding.verdict is Ruling.HARMFUL}
    assert harmful == {"strict sync", "aio write behind"}


def test_a_dump_of_a_newer_samba_is_no_list_of_mistakes():
    text = defaults.testparm_dump("4.25").replace("\n\tworkgroup", "\n\tbrand new parameter = Yes\n\tworkgroup")
    assert "brand new" in text
    assert findings(text) == ()
    assert findings(text, "4.27") == ()


@pytest.mark.parametrize("version", defaults.VERSIONS)
@pytest.mark.parametrize("advice", BAD, ids=lambda advice: advice.source[:30])
def test_bad_advice_is_named_for_every_version(advice: BadAdvice, version: str):
    named = {finding.setting for finding in findings(advice.text, version)}
    assert {setting.partition(" … ")[0] for setting in advice.named} - named == set()


@pytest.mark.parametrize("version", defaults.VERSIONS)
def test_the_redpaper_is_judged_alike_for_every_version(version: str):
    assert [(finding.key, finding.line) for finding in findings(REDPAPER.text, version)] == [
        (finding.key, finding.line) for finding in findings(REDPAPER.text, "4.17")
    ]


@pytest.mark.parametrize(
    ("line", "version", "key"),
    [
        # Not yet known, and known
        ("smb3 directory leases = no", "4.21.10", "too-new"),
        ("smb3 directory leases = no", "4.22.0", None),
        ("server smb encrypt = required", "4.13.13", "too-new"),
        ("smb encrypt = if_required", "4.13.13", None),
        ("smb encrypt = desired", "4.13.13", "encryption-desired"),
        ("server smb transports = tcp", "4.22", "too-new"),
        ("server smb transports = tcp", "4.23", None),
        # Removed, and still known
        ("client use spnego principal = yes", "4.20", None),
        ("client use spnego principal = yes", "4.21", "removed"),
        ("share backend = classic", "4.14", None),
        ("share backend = classic", "4.15", "removed"),
        ("write cache size = 65536", "4.13", "removed"),
        ("read size = 16384", "4.25", "removed"),
        # Of a version that nobody told, what any of them knows is fine.
        ("smb3 directory leases = no", "", None),
        ("share backend = classic", "", None),
        ("homedir map = amd.homedir", "", None),
        ("write cache size = 65536", "", "removed"),
        # What is not in the table
        ("brand new parameter = yes", "", "unknown"),
        ("brand new parameter = yes", "4.25.1", "unknown"),
        ("brand new parameter = yes", "4.26", "not-judged"),
        # Defaults
        ("server multi channel support = yes", "4.13", None),
        ("server multi channel support = yes", "4.17", "default"),
        ("server multi channel support = yes", "", None),
        ("kernel change notify = yes", "", "default"),
        ("aio write behind =", "4.17", None),
        ("aio write behind = /*/", "4.17", "write-behind"),
        ("include =", "4.17", None),
        ("include = /nowhere", "4.17", "missing-include"),
        # Values
        ("server max protocol = SMB3_10", "4.14", None),
        ("server max protocol = SMB3_10", "4.15", "refused"),
    ],
)
def test_a_line_is_judged_for_the_version_that_reads_it(line: str, version: str, key: str | None):
    assert keys(f"[global]\n\t{line}\n", version) == ({key} if key else set())


def test_what_is_not_known_here_is_never_to_be_deleted():
    (finding,) = findings("[global]\nbrand new parameter = yes\n", "4.26")
    assert finding.instead is None
    assert "elete" not in finding.what_to_do


def test_a_line_with_a_name_that_came_later_is_to_be_renamed_and_not_deleted():
    (finding,) = findings("[global]\nserver smb encrypt = required\n", "4.13.13")
    assert finding.instead is None
    assert " smb encrypt " in finding.what_to_do


def test_a_server_s_own_list_outweighs_ours():
    conf = read_conf(CONF, {CONF: "[global]\nbrand new parameter = yes\nserver smb encrypt = default\n"})
    facts = {fact_names.SAMBA_VERSION: "4.13.13"}
    own_names = frozenset({"brand new parameter", "smb encrypt"})
    server = AuditedServer(conf=conf, path=CONF, facts=facts, global_names=own_names)
    assert [(finding.setting, finding.key) for finding in judge(server)] == [("server smb encrypt", "too-new")]


def test_a_share_that_takes_a_default_back_needs_its_line():
    shares = "[pub]\npath = /srv\noplocks = yes\n"
    assert "default" in keys(f"[global]\noplocks = yes\n{shares}")
    assert "default" not in keys(f"[global]\noplocks = no\n{shares}")
