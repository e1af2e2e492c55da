"""Every judgement, the sources' bad advice line by line, and healthy servers."""

from __future__ import annotations

from dataclasses import fields

import pytest

from forms.audit.audited_server import AuditedServer
from forms.audit.harmful_settings import harmful_settings
from forms.audit.judge import judge
from forms.audit.judgements import SettingJudgement, judgements, number_of
from forms.audit.remedies import remedies
from forms.audit.report import setting_text
from forms.tuning.conf_file import read_conf
from forms.tuning.fact_names import PARAMETER_PREFIX
from forms.tuning.smb_conf import toml_data
from storage.looks import AuditFinding, Ruling
from storage.records import FactValue
from tests.forms.audit.configurations import BAD, HEALTHY, BadAdvice

CONF = "/etc/samba/smb.conf"


def audited(text: str, **known: object) -> tuple[AuditFinding, ...]:
    files = {CONF: text, "/etc/samba/usershares.conf": "", "registry": ""}
    return judge(AuditedServer(conf=read_conf(CONF, files), path=CONF, **known))  # type: ignore[arg-type]


def keys(text: str, **known: object) -> set[str]:
    return {finding.key for finding in audited(text, **known)}


@pytest.mark.parametrize("advice", BAD, ids=lambda advice: advice.source[:30])
def test_bad_advice_is_named_line_by_line(advice: BadAdvice):
    found = audited(advice.text)
    named = {setting_text(finding).partition(" = ")[0] for finding in found}
    assert set(advice.named) - {name.removesuffix(" …") for name in named} == set()
    graver = {"refused", "trailing-comment", "no-dialect"}
    first = [setting_text(finding) for finding in found if finding.key not in graver]
    assert set(first[: len(advice.first)]) == set(advice.first)
    assert advice.first == () or found[0].verdict is Ruling.HARMFUL


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_server_has_nothing_harmful_and_at_most_one_thing_to_try(name: str):
    found = audited(HEALTHY[name])
    bad = [(setting_text(one), one.why) for one in found if one.verdict not in {Ruling.USELESS, Ruling.WORTH_TRYING}]
    assert bad == []
    assert sum(one.verdict is Ruling.WORTH_TRYING for one in found) <= 1


@pytest.mark.parametrize("name", HEALTHY)
def test_the_settings_kept_of_a_healthy_server_have_nothing_harmful(name: str):
    assert harmful_settings(kept(HEALTHY[name])) == ()


def test_an_empty_value_that_a_recording_keeps_is_a_default():
    name = f"{PARAMETER_PREFIX}share/aio write behind"
    assert [one.key for one in harmful_settings({name: "/*/"})]
    assert harmful_settings({name: ""}) == ()


@pytest.mark.parametrize("advice", BAD, ids=lambda advice: advice.source[:30])
def test_a_recording_names_what_the_audit_of_its_server_calls_harmful(advice: BadAdvice):
    of_lines = {"trailing-comment", "refused"}
    named = {one.key for one in audited(advice.text) if one.verdict is Ruling.HARMFUL and one.key not in of_lines}
    assert {one.key for one in harmful_settings(kept(advice.text))} == named


def kept(text: str) -> dict[str, FactValue]:
    """The settings as a recording keeps them: those of the server, and of its first share."""
    settings = read_conf(CONF, {CONF: text}).settings
    share = next((one.section for one in settings if one.section != "global"), "")
    scopes = {"global": "global", share: "share"}
    return {
        f"{PARAMETER_PREFIX}{scopes[one.section]}/{one.name}": one.value for one in settings if one.section in scopes
    }


def test_there_are_twenty_healthy_servers_and_five_guides():
    assert len(HEALTHY) >= 20
    assert len(BAD) >= 8


ANY_VALUE = {"logging": "file", "veto oplock files": "/*.mdb/"}
"""For conditions that are met by any value of a parameter."""
USUAL = {"names-without-dns": "wins", "syslog-overridden": "3"}
"""Values of judgements about any value; elsewhere it is yes."""


def lines_for(one: SettingJudgement, value: str | None, *, silenced: str = "") -> str:
    """An smb.conf in which the judgement's conditions hold, with that value; one of its ``unless`` where asked for."""
    conditions = {name: values[0] for name, values in (*one.when.items(), *one.when_global.items())}
    conditions |= {
        name: "no" if "yes" in values else "yes" if "no" in values else "other" for name, values in one.unless.items()
    }
    conditions |= {name: values[0] for name, values in one.when_somewhere.items()}
    conditions |= one.when_word
    conditions |= {name: ANY_VALUE[name] for name in one.when_set}
    if silenced:
        conditions[silenced] = one.unless[silenced][0]
    lines = [f"    {name} = {text}" for name, text in conditions.items() if text != "other"]
    if value is not None:
        lines.append(f"    {one.parameter} = {value}")
    return "\n".join(["[global]", *lines, "[share]", "    path = /srv"])


def written(one: SettingJudgement, value: str) -> str:
    """The value as a word of a list where the judgement is about a word."""
    if not one.word:
        return value
    return one.word if value == "1" else f"{one.word}={value}"


def bounds(one: SettingJudgement) -> tuple[list[str], list[str]]:
    """Values that the judgement is about, and values just beyond that it is not."""
    low = int(number_of("", one.above) or 0) if one.above else None
    high = int(number_of("", one.below) or 0) if one.below else None
    usual = USUAL.get(one.key, "yes")
    inside = [*one.values, *one.names] or (["1" if one.word else usual] if one.present else [])
    outside: list[str] = ["0755"] if one.mode_bits else []
    if one.mode_bits:
        inside += ["0777", "2777", "0666", "0002"]
    if one.names:
        outside.append("alice")
    if one.other_names:
        inside += ["alice", f"{one.other_names[0]} @helpdesk"]
        outside += [f'@"{name}"' for name in one.other_names]
    if low is not None:
        inside.append(str(low + 1))
        outside.append(str(low))
    if high is not None:
        inside.append(str(high - 1))
        outside.append(str(high))
    return inside, outside


OF_SMB_CONF = [one for one in judgements() if one.parameter]


@pytest.mark.parametrize("one", OF_SMB_CONF, ids=lambda one: one.key)
def test_a_judgement_is_about_its_values_and_not_about_those_just_beyond(one: SettingJudgement):
    inside, outside = bounds(one)
    assert inside, "a judgement tests something"
    for value in inside:
        assert one.key in keys(lines_for(one, written(one, value))), value
    for value in outside:
        assert one.key not in keys(lines_for(one, written(one, value))), value
    assert one.key not in keys(lines_for(one, None)), "without the line"
    for name in one.unless:
        assert one.key not in keys(lines_for(one, written(one, inside[0]), silenced=name)), name
    for name, values in one.unless_somewhere.items():
        text = lines_for(one, written(one, inside[0]))
        assert one.key not in keys(f"{text}\n[other]\n{name} = {values[0]}"), name
    for name, limit in one.unless_above.items():
        at_limit, above = number_of("", limit) or 0, (number_of("", limit) or 0) + 1
        text = lines_for(one, written(one, inside[0]))
        assert one.key in keys(text.replace("[share]", f"{name} = {at_limit:.0f}\n[share]")), name
        assert one.key not in keys(text.replace("[share]", f"{name} = {above:.0f}\n[share]")), name
    for name in one.unless_set:
        text = lines_for(one, written(one, inside[0]))
        assert one.key not in keys(text.replace("[share]", f"{name} = {ANY_VALUE[name]}\n[share]")), name
    for name in one.when_set:
        text = lines_for(one, written(one, inside[0]))
        assert one.key not in keys(text.replace(f"    {name} = {ANY_VALUE[name]}", f"    {name} =")), name
    for name in (*one.when_global, *one.when_somewhere, *one.when_word):
        other = lines_for(one, written(one, inside[0])).replace(f"    {name} = ", f"    {name} = x")
        assert one.key not in keys(other), name


@pytest.mark.parametrize("one", [one for one in judgements() if one.fact], ids=lambda one: one.key)
def test_a_judgement_of_a_fact_is_about_its_values_and_not_about_those_just_beyond(one: SettingJudgement):
    conditions = {name: values[0] for name, values in one.when_fact.items()}

    def found(value: str, **facts: str) -> set[str]:
        text = f"4096 16384 {value}" if one.part == 3 else f"rw,{value}" if one.word else value
        return {each.key for each in judge(AuditedServer(facts={**conditions, **facts, one.fact: text}))}

    if one.above and "." in one.above:
        inside, outside = ["0.6"], ["0.5"]
    else:
        inside, outside = bounds(one)
    inside = [one.word] if one.word else inside
    for value in inside:
        assert one.key in found(value), value
    for value in [*outside, "sensible"]:
        assert one.key not in found(value), value
    for name, values in one.unless_fact.items():
        assert one.key not in found(inside[0], **{name: values[0]})
    for name in one.when_fact:
        assert one.key not in found(inside[0], **{name: "no"})


@pytest.mark.parametrize(
    ("value", "called"),
    [
        ("wins bcast", True),
        ("bcast", True),
        ("wins bcast host", False),
        ("host", False),
        ("lmhosts wins HOST", False),
        ("host,wins", False),
    ],
)
def test_an_order_of_names_without_dns_is_judged(value: str, called: bool):
    assert ("names-without-dns" in keys(f"[global]\nname resolve order = {value}")) is called


@pytest.mark.parametrize(
    ("line", "key", "verdict"),
    [
        ("max smbd processes = 5", "few-smbd-processes", Ruling.RISKY),
        ("aio read size = 0", "no-aio-read", Ruling.WORTH_TRYING),
        ("aio write size = 0", "no-aio-write", Ruling.WORTH_TRYING),
    ],
)
def test_what_limits_users_or_lets_one_request_hold_up_others_is_named(line: str, key: str, verdict: Ruling):
    found = {finding.key: finding for finding in audited(f"[global]\n{line}\n[share]\npath = /srv\n")}
    assert found[key].verdict is verdict


def test_every_price_has_its_source_and_every_word_is_filled():
    for one in judgements():
        assert one.price_source or not one.price, one.key
        assert one.reason.endswith("."), one.key
        for finding in audited(lines_for(one, written(one, bounds(one)[0][0]))) if one.parameter else ():
            assert "{" not in finding.why, one.key
    assert len({one.key for one in judgements()}) == len(judgements())


def test_every_key_of_a_judgement_in_the_file_is_read():
    read = {field.name for field in fields(SettingJudgement)} - {"reason"} | {"why"}
    in_file = {name for row in toml_data("judgements.toml")["judgement"] for name in row}
    assert in_file - read == set()


@pytest.mark.parametrize(
    ("samba", "called"), [("4.6.99", False), ("4.7.0", True), ("4.17.12-Debian", True), ("", True)]
)
def test_strict_sync_is_judged_where_yes_is_the_default(samba: str, called: bool):
    found = keys("[global]\nstrict sync = no", facts={"samba.version": samba})
    assert ("no-strict-sync" in found) is called


@pytest.mark.parametrize(("mode", "called"), [(0o644, False), (0o664, False), (0o646, True), (0o777, True)])
def test_a_configuration_that_others_may_write_to_is_harmful_before_all_else(mode: int, called: bool):
    text = "[global]\nsocket options = SO_SNDBUF=8192"
    found = audited(text, modes={CONF: mode})
    assert (found[0].key == "writable-configuration") is called


def test_veto_files_names_what_it_hides():
    text = "[global]\n[pub]\npath = /srv\nveto files = /*.iso/Thumbs.db/"
    found = audited(text, names_in_shares={"pub": ["big.ISO", "a.txt", "b.iso", "thumbs.db"]})
    (hidden,) = [one for one in found if one.key == "veto-hides-files"]
    assert hidden.why == "Hides big.ISO, b.iso, thumbs.db: clients are told that there is no such file."
    assert "veto-hides-files" not in {one.key for one in audited(text, names_in_shares={"pub": ["a.txt"]})}
    many = audited(text, names_in_shares={"pub": [f"{i}.iso" for i in range(7)]})
    assert "and 2 more" in next(one for one in many if one.key == "veto-hides-files").why


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[global]\nsocket optoins = TCP_NODELAY", "unknown"),
        ("[pub]\nlog level = 1", "wrong-section"),
        ("[global]\nlog level = 1\nlog level = 2", "set-twice"),
        ("[global]\nstrict sync = maybe", "refused"),
        ("[global]\nstrict sync = yes # safe", "trailing-comment"),
        ("[global]\nread size = 2048", "removed"),
        ("[global]\nread raw = yes", "smb1-only"),
        ("[global]\noplocks = yes", "default"),
        ("[global]\ninclude = /missing", "missing-include"),
        ("[global]\nthis says nothing", "malformed-line"),
        ("[global]\nsocket options = SO_SPEED", "unknown-socket-option"),
        ("[global]\nsmb3 directory leases = yes", "too-new"),
    ],
)
def test_what_holds_for_every_parameter(text: str, key: str):
    facts = {"samba.version": "4.17.12"}
    assert key in keys(text, facts=facts)
    assert keys("[global]\nlog level = 1\nread only = no\nworkgroup = OFFICE#HQ", facts=facts) == set()


def test_smb1_settings_are_not_useless_where_smb1_is_spoken():
    assert "smb1-only" not in keys("[global]\nserver min protocol = NT1\nread raw = yes")


def test_a_module_that_cannot_be_loaded_is_harmful():
    text = "[pub]\npath = /srv\nvfs objects = catia nosuch"
    assert "missing-module" in keys(text, modules=frozenset({"catia"}))
    assert "missing-module" not in keys(text, modules=frozenset({"catia", "nosuch"}))
    assert "missing-module" not in keys(text), "unknown which there are"


def test_an_opposite_says_the_same():
    assert "set-twice" not in keys("[pub]\nwritable = no\nread only = yes")
    assert "set-twice" in keys("[pub]\nwritable = yes\nread only = yes")


@pytest.mark.long
def test_a_large_file_with_loops_is_audited(tmp_path: object):
    lines = "\n".join(f"[share{i}]\npath = /srv/{i}\nstrict locking = no" for i in range(60_000))
    files = {CONF: f"[global]\n{lines}\ninclude = /b\n", "/b": f"include = {CONF}\ninclude = /b"}
    assert sum(map(len, files.values())) > 2_000_000
    found = judge(AuditedServer(conf=read_conf(CONF, files), path=CONF))
    assert [found[0].key, found[0].line] == ["stops-reading", 1]
    assert len(found) == 60_001


def test_what_is_tested_takes_all_bad_words_of_a_line_together():
    text = "[global]\nlog level = 5\nsocket options = SO_SNDBUF=8192 TCP_NODELAY SO_RCVBUF=8192\nstrict sync = no"
    found = remedies(audited(text))
    assert [(one.name, one.value) for one in found] == [
        ("socket options", "TCP_NODELAY"), ("strict sync", "Yes"), ("log level", "1"),
    ]  # fmt: skip
    assert remedies(audited("[global]\nforce user = root\ncreate mask = 0777")) == ()


@pytest.mark.parametrize(
    "limit", ["read_bw_limit = 1M", "write_bw_limit = 50000000", "read_iops_limit = 200", "write_iops_limit = 1"]
)
def test_a_limit_that_somebody_set_is_harmful(limit: str):
    loaded = "[pub]\npath = /srv\nvfs objects = aio_ratelimit"
    (found,) = audited(f"{loaded}\naio_ratelimit:{limit}")
    assert found.verdict is Ruling.HARMFUL
    name, _, _ = limit.partition(" ")
    assert all(one.verdict is not Ruling.HARMFUL for one in audited(f"{loaded}\naio_ratelimit:{name} = 0"))


@pytest.mark.parametrize(
    ("posix_locking", "key"),
    [("", "persistent-handles-without-need"), ("posix locking = no", "persistent-handles")],
)
def test_persistent_handles_are_told_with_what_keeps_them_off(posix_locking: str, key: str):
    facts = {"samba.version": "4.25.0"}
    assert key in keys(f"[global]\npersistent handles = yes\n{posix_locking}", facts=facts)
    assert key not in keys(f"[global]\npersistent handles = no\n{posix_locking}", facts=facts)


@pytest.mark.parametrize(
    ("option", "is_told"),
    [
        ("fruit:time machine = yes", False),
        ("fruit:time machine = 1", False),
        ("fruit:time machine = no", True),
        ("fruit:metadata = stream", True),
    ],
)
def test_posix_locks_are_off_on_a_share_for_time_machine_whatever_it_says(option: str, is_told: bool):
    """vfs_fruit(8): the option enforces posix locking = no, and three other settings."""
    loaded = "vfs objects = fruit streams_xattr"
    share = f"[tm]\npath = /srv\nread only = no\n{loaded}\nposix locking = no"
    facts = {"samba.version": "4.13.13"}
    assert ("no-posix-locking" in keys(f"{share}\n{option}", facts=facts)) is is_told
    assert ("no-posix-locking" in keys(f"[global]\n{option}\n{share}", facts=facts)) is is_told


def test_what_acts_with_windows_alone_is_not_called_useless():
    (found,) = audited("[pub]\npath = /srv\nstrict allocate = yes")
    assert found.verdict is Ruling.WORTH_TRYING
