"""What must never reach a running smbd, whatever testparm says of it."""

import pytest

from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import Proposal, SambaKnows, data, is_never_changed, refusals, risk_of, undo_needs_restart
from tests.servers.broken_values import BROKEN

CONF = "/etc/samba/smb.conf"
KNOWN = SambaKnows(modules=frozenset({"full_audit", "streams_xattr"}), sections=frozenset({"bench"}))


@pytest.mark.parametrize(("name", "value", "section"), BROKEN)
def test_what_testparm_lets_pass_or_smbd_dies_of_is_refused(name: str, value: str, section: str):
    assert list(refusals(Proposal(name=name, value=value, section=section, conf=CONF), KNOWN))


@pytest.mark.parametrize("name", ["unix extensions", "smb1 unix extensions", "SMB1 UnixExtensions", "writable", "exec"])
def test_what_decides_who_gets_in_is_refused_by_each_of_its_names(name: str):
    assert is_never_changed(name)
    assert list(refusals(Proposal(name=name, value="no", section="global", conf=CONF), SambaKnows()))


def test_each_name_in_the_list_is_never_changed_and_no_other():
    assert [name for name in data()["never"] if not is_never_changed(name)] == []
    assert not is_never_changed("strict sync")


@pytest.mark.parametrize(
    ("name", "value", "section"),
    [
        ("strict sync", "no", "bench"),
        ("log level", "3", "global"),
        ("log level", "1 auth:3", "global"),
        ("server signing", "mandatory", "global"),
        ("smb encrypt", "required", "global"),
        ("socket options", "TCP_NODELAY SO_SNDBUF=65536 IPTOS_LOWDELAY", "global"),
        ("vfs objects", "full_audit", "bench"),
        ("vfs objects", "", "bench"),
        ("server smb3 encryption algorithms", "AES-128-GCM, AES-256-GCM", "global"),
        ("smb2 max read", "1048576", "global"),
        ("aio read size", "1", "bench"),
        ("full_audit:success", "none", "bench"),
        ("Strict  Sync", "NO", "bench"),
    ],
)
def test_what_the_catalogue_tries_is_not(name: str, value: str, section: str):
    assert list(refusals(Proposal(name=name, value=value, section=section, conf=CONF), KNOWN)) == []


def test_a_parameter_that_this_samba_does_not_have_is_refused_whatever_the_tables_know():
    older = SambaKnows(for_server=frozenset({"log level"}), for_share=frozenset({"path"}))
    assert list(refusals(Proposal(name="server signing", value="default", section="global", conf=CONF), older))


@pytest.mark.parametrize("own_name", ["smb encrypt", "server smb encrypt"])
def test_a_parameter_is_known_by_the_name_that_this_samba_has_for_it(own_name: str):
    samba = SambaKnows(for_server=frozenset({"log level"}), for_share=frozenset({"path", own_name}))
    assert samba.own_name("server smb encrypt") == own_name
    proposal = Proposal(name="server smb encrypt", value="required", section="global", conf=CONF)
    assert list(refusals(proposal, samba)) == []


def test_the_newest_name_is_preferred_and_an_inverse_is_no_name_of_a_parameter():
    both = SambaKnows(for_share=frozenset({"smb encrypt", "server smb encrypt", "writeable"}))
    assert both.own_name("server smb encrypt") == "server smb encrypt"
    assert both.own_name("read only") == "read only"


def test_the_tables_name_parameters_as_samba_does():
    found = data()
    names = [*found["risks"], *found["ranges"], *found["words"]]
    assert [name for name in names if spelling(name).name != name] == []


def test_risks_are_told_where_they_are():
    assert risk_of("strict sync", "No")
    assert risk_of("strict sync", "yes") is None
    assert risk_of("log level", "10")
    assert risk_of("log level", "1") is None
    assert risk_of("full_audit:success", "none"), "unknown to us"
    assert risk_of("idmap gid", "1-2"), "not in the catalogue"


def test_what_only_a_restart_takes_back():
    assert undo_needs_restart("socket options", "TCP_NODELAY SO_SNDBUF=8192", ("TCP_NODELAY",))
    assert undo_needs_restart("socket options", "TCP_NODELAY", ("TCP_NODELAY SO_SNDBUF=8192",)) is None
    assert undo_needs_restart("interfaces", "lo", ("lo eth0",))


def test_a_share_that_is_not_there_may_be_in_another_smb_conf():
    """A server that was started with another file than the usual one: the admin has to see which one was read."""
    (reason,) = refusals(Proposal(name="use sendfile", value="yes", section="data", conf=CONF), KNOWN)
    assert reason.startswith("there is no share [data] in /etc/samba/smb.conf; if the server")


@pytest.mark.parametrize(("modules", "is_refused"), [({"streams_xattr"}, True), ({"full_audit"}, False), ((), False)])
def test_an_option_of_a_module_is_refused_where_the_modules_are_known_and_it_is_none(modules, is_refused: bool):
    proposal = Proposal(name="full_audit:success", value="all", section="data", conf=CONF)
    assert bool(list(refusals(proposal, SambaKnows(modules=frozenset(modules))))) is is_refused
