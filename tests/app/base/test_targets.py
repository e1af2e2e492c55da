"""Targets as people type them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app.base.errors import PasswordInURLError, UsageError
from app.base.targets import (
    check_complete,
    join,
    parse_target,
    parse_target_with_login,
    parse_typed_target,
    split_domain,
    typed_user,
)
from storage.records import Command, Target, format_target


def smb(**parts) -> Target:
    usual = Target(protocol="smb", host="server", port=445, share="share", path="file")
    return replace(usual, **parts)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("smb://server/share/file", smb()),
        ("SMB://server/share/file", smb()),
        ("  smb://server/share/file ", smb()),
        ("smb://bench@server:4455/share/a/b", smb(user="bench", port=4455, path="a/b")),
        ("smb://DOM;bench@server/share/file", smb(user="bench", domain="DOM")),
        ("smb://me@corp.example@server/share/file", smb(user="me@corp.example")),
        ("smb://server/share", smb(path="")),
        ("smb://server", smb(share=None, path="")),
        ("smb://[fe80::1]:4455/share/file", smb(host="fe80::1", port=4455)),
        ('smb://server/my share/a file\'s [copy] "1".bin', smb(share="my share", path='a file\'s [copy] "1".bin')),
        ("smb://server/share/100%.bin", smb(path="100%.bin")),
        ("smb://server/share/a%20b%25c", smb(path="a b%c")),
        ("smb://server/share/%E4%F6", smb(path="%E4%F6")),
        ("smb://server/share/Größe/日本", smb(path="Größe/日本")),
        ("smb://server/share/-rf", smb(path="-rf")),
        ("smb://server/share/what?#now", smb(path="what?#now")),
        (r"\\server\share\dir\file", smb(path="dir/file")),
        ("//server/share/file", smb()),
        ("ftp://server/pub/file", Target(protocol="ftp", host="server", port=21, path="/pub/file")),
        ("ftp://me@server:2121", Target(protocol="ftp", host="server", port=2121, path="/", user="me")),
        ("ftp://server/Gr%F6%DFe", Target(protocol="ftp", host="server", port=21, path="/Gr\udcf6\udcdfe")),
        ("ftp://server/Gr%C3%B6%25F6", Target(protocol="ftp", host="server", port=21, path="/Gr\u00f6%F6")),
        ("file:///srv/%FF", Target(protocol="file", path="/srv/\udcff")),
        ("/srv/%FF", Target(protocol="file", path="/srv/%FF")),
        ("smb://server/team%40home/file", smb(share="team@home")),
        ("//server/team@home/file", smb(share="team@home")),
        ("smb://bench@server/team@home/file", smb(user="bench", share="team@home")),
        ("smb://server/share/a@b", smb(path="a@b")),
        ("ftps://server/x", Target(protocol="ftps", host="server", port=21, path="/x")),
        ("file:///srv/a file", Target(protocol="file", path="/srv/a file")),
        ("/srv/100%25", Target(protocol="file", path="/srv/100%25")),
        ("iperf3://server", Target(protocol="iperf3", host="server", port=5201)),
    ],
)
def test_a_target_is_read_and_written_back(url: str, target: Target):
    assert parse_target(url) == target
    assert parse_target(format_target(target)) == target


@pytest.mark.parametrize(
    "url",
    [
        "smb://LAB/carol@files/data/f",
        "smb://LAB/carol@corp.example@files/data",
        "smb://LAB/carol:hush@files/s",
        "smb://LAB/c%25hush@f",
    ],
)
def test_a_domain_before_a_slash_is_told_how_it_is_written(url: str):
    with pytest.raises(UsageError, match=re.escape("smb://DOMAIN;USER@HOST")) as caught:
        parse_target(url)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["smb://bench:secret@server/share/file", "ftp://u:secret@h/x", "smb://D;u:secret@h/s/f"]
)
def test_a_password_in_a_url_is_refused_without_repeating_it(url: str):
    with pytest.raises(PasswordInURLError) as caught:
        parse_target(url)
    assert "secret" not in str(caught.value)
    for way in ("prompt", "SHAREBENCH_PASSWORD", "a file of credentials"):
        assert way in str(caught.value)
    assert "--" not in str(caught.value), "it stands on the screen too"
    assert caught.value.options == "--credentials FILE"


@pytest.mark.parametrize(
    "url",
    [
        "smb:/u:PW@h/s", "smb://u:PW/x@h/s", "smb:u:PW@h", "u:PW@h/s", "smb//u:PW@h/s", r"\\u:PW@h\s", "smb://u:PW",
        "u:PW", "https://u:PW@h", "smb://u:P/PW@x/y@h", "sbm://u:PW@h/s", "smb://[::1]:PW", "smb://:PW@h", "PW@h/s",
        "file://u:PW@h/s", "file://u:PW", "smb:///u:PW@h/s", "iperf3://h:1/u:PW@k", "smb:\\u:PW@h", "ftp:/u:PW@",
        "smb://u:4PW4567@h/s", "smb://my PW@h:x/s",
    ],
)  # fmt: skip
def test_a_half_typed_url_is_refused_without_repeating_what_may_be_its_password(url: str):
    with pytest.raises(UsageError) as caught:
        parse_target(url)
    assert "PW" not in str(caught.value)


def test_what_cannot_be_a_password_is_repeated():
    for url in ("server/share", "http://server/x", "sbm://server:445/share", "C:\\data"):
        with pytest.raises(UsageError, match=re.escape(f"'{url}'")):
            parse_target(url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("server/share", "write smb://"),
        ("http://server/x", "write smb://"),
        ("smb:///share/file", "no host"),
        ("smb://server:99999/share/file", "no such port"),
        ("smb://server:0/share/file", "no such port"),
        ("smb://server:" + "9" * 5000 + "/share/file", "no such port"),
        ("smb://server:\u0663/share/file", "no host"),
        ("file://srv/data", "file:///srv/data"),
        ("iperf3://server/path", "iperf3://HOST[:PORT]"),
        ("smb://server/share/a\nb", "line ends"),
        ("ftp://server/a%0D%0ADELE b", "line ends"),
        ("file:///a%00b", "NUL"),
        ("", "nothing was typed; write smb://"),
    ],
)
def test_a_wrong_target_says_what_to_write(url: str, says: str):
    with pytest.raises(UsageError) as caught:
        parse_target(url)
    assert says in str(caught.value)


def test_what_a_command_needs():
    check_complete(smb(), Command.GET)
    check_complete(smb(path=""), Command.PUT)
    check_complete(smb(path=""), Command.GET, make_file=True)
    with pytest.raises(UsageError, match="no file"):
        check_complete(smb(path=""), Command.GET)
    with pytest.raises(UsageError, match="no share"):
        check_complete(smb(share=None, path=""), Command.PUT)


def test_joining_keeps_the_form_of_a_path():
    assert join(smb(path=""), "x") == "x"
    assert join(smb(path="a/b/"), "x") == "a/b/x"
    assert join(Target(protocol="file", path="/"), "x") == "/x"
    assert join(Target(protocol="ftp", host="h", path="/a"), "x") == "/a/x"


@pytest.mark.parametrize(
    ("typed", "host", "user", "share"),
    [
        ("nas1", "nas1", None, None),
        ("alice@nas1.example.com", "nas1.example.com", "alice", None),
        ("10.79.0.2:4450/share/big.iso", "10.79.0.2", None, "share"),
        (r"\\10.79.0.2\share", "10.79.0.2", None, "share"),
    ],
)
def test_what_admins_type_for_a_server_is_taken_for_smb(typed, host, user, share):
    found = parse_typed_target(typed)
    assert (found.protocol, found.host, found.user, found.share) == ("smb", host, user, share)


def test_a_bare_host_is_told_what_was_meant():
    with pytest.raises(UsageError, match="did you mean smb://nas1"):
        parse_target("nas1")
    with pytest.raises(UsageError, match="not a target: 'nothing like it'; write smb://"):
        parse_typed_target("nothing like it")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("smbb://nas1/share", "smb://nas1/share"),
        ("smb:/nas1/share", "smb://nas1/share"),
        (r"smb:\\nas1\share", "smb://nas1/share"),
        ("fpt://nas1", "ftp://nas1"),
        ("iperf://nas1", "iperf3://nas1"),
        ("file:/srv/data", "file:///srv/data"),
        ("http://nas1/share", "smb://nas1/share"),
        ("https://nas1:445/share/f.bin", "smb://nas1:445/share/f.bin"),
    ],
)
def test_a_slip_of_the_pen_in_a_scheme_is_told_what_was_meant(typed: str, meant: str):
    with pytest.raises(UsageError) as caught:
        parse_typed_target(typed)
    assert str(caught.value).startswith(f"not a target: '{typed}'; did you mean {meant}? Else write smb://")


def test_what_may_be_a_password_is_not_repeated_in_what_was_meant():
    with pytest.raises(UsageError) as caught:
        parse_target("smb:hush@nas1")
    assert "did you mean smb://…@nas1?" in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("typed", ["sftp://nas1/x", "tftp://nas1/x", "nfs://nas1/x"])
def test_the_scheme_of_another_program_is_no_slip_of_the_pen(typed: str):
    with pytest.raises(UsageError, match=r"not a target: '.*'; write smb://"):
        parse_typed_target(typed)


@pytest.mark.parametrize("typed", ["nas1:445/data/f@2024.iso", r"C:\data\a@b"])
def test_a_port_or_a_drive_before_an_at_sign_is_not_called_a_password(typed: str):
    with pytest.raises(UsageError, match=r"^not a target: .*…@.*; write smb://") as caught:
        parse_target(typed)
    assert not isinstance(caught.value, PasswordInURLError)


def test_a_password_before_a_bare_host_is_refused_as_one():
    with pytest.raises(PasswordInURLError) as caught:
        parse_typed_target("bench:hush@nas1")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("typed", [r"smb://LAB\carol@nas1/s/f", r"LAB\carol@nas1/s/f", "smb://LAB;carol@nas1/s/f"])
def test_a_domain_stands_before_a_backslash_as_windows_writes_it(typed: str):
    target = parse_typed_target(typed)
    assert (target.domain, target.user, target.host, target.share) == ("LAB", "carol", "nas1", "s")


@pytest.mark.parametrize(
    "typed", ["smb://carol%hush@nas1/s", "smb://LAB;carol%hush@nas1/s", "carol%hush@nas1/s", "//carol%hush@nas1/s"]
)
def test_a_password_behind_a_percent_is_refused_and_not_repeated(typed: str):
    with pytest.raises(PasswordInURLError) as caught:
        parse_typed_target(typed)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "domain", "user"),
    [
        (" carol ", None, "carol"),
        (r"LAB\carol", "LAB", "carol"),
        ("LAB;carol", "LAB", "carol"),
        ("carol@LAB.EXAMPLE", None, "carol@LAB.EXAMPLE"),
        ("", None, None),
    ],
)
def test_a_user_that_is_typed_alone(typed: str, domain: str | None, user: str | None):
    assert typed_user(typed) == (domain, user)


@pytest.mark.parametrize("typed", ["carol%hush", r"LAB\carol%hush", "carol:hush"])
def test_a_password_beside_a_user_that_is_typed_alone_is_refused_and_not_repeated(typed: str):
    with pytest.raises(UsageError) as caught:
        typed_user(typed)
    assert "hush" not in str(caught.value)


def test_an_escaped_percent_and_one_of_ftp_belong_to_the_user():
    assert parse_target("smb://carol%25x@nas1/s").user == "carol%x"
    assert parse_target("ftp://carol%site@nas1/f").user == "carol%site"


@pytest.mark.parametrize("typed", ["//nas1/x%20y/a%41", r"\\nas1\x%20y\a%41"])
def test_a_percent_of_a_unc_path_begins_no_escape(typed: str):
    target = parse_target(typed)
    assert (target.share, target.path) == ("x%20y", "a%41")
    assert parse_target("smb://nas1/x%20y/a%41").share == "x y"


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        ("alice", ("", "alice")),
        ("OFFICE;alice", ("OFFICE", "alice")),
        (r"OFFICE\alice", ("OFFICE", "alice")),
        ("OFFICE/alice", ("OFFICE", "alice")),
        (r".\alice", (".", "alice")),
        ("alice@office.example", ("", "alice@office.example")),
    ],
)
def test_a_login_is_split_as_people_write_it(login: str, expected: tuple[str, str]):
    assert split_domain(login) == expected


@pytest.mark.parametrize("escape", ["%5C", "%5c"])
def test_an_escaped_backslash_of_a_url_parts_domain_and_user(escape: str):
    target = parse_target(f"smb://OFFICE{escape}alice@nas/public")
    assert (target.domain, target.user) == ("OFFICE", "alice")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (r"\\nas\data\x%20y.iso", "smb://nas/data/x%2520y.iso"),
        (r"\\nas\data\100%.iso", "smb://nas/data/100%.iso"),
        (r"\\nas\data\50%g.iso", "smb://nas/data/50%g.iso"),
        (r"\\nas\d%41\f", "smb://nas/d%2541/f"),
        ("smb://nas/data/a b.iso", "smb://nas/data/a b.iso"),
    ],
)
def test_a_name_that_looks_escaped_leads_to_itself_as_people_see_it(typed: str, shown: str):
    target = parse_target(typed)
    assert format_target(target, escaped=False) == shown
    assert parse_target(shown) == target


@pytest.mark.parametrize(
    "name", ["trailing ", "wide\u3000", "two  ", "dot.", "a b", "h#1", "q?1", "p%25", "p%", " first"]
)
@pytest.mark.parametrize("place", ["smb://nas/share/", "ftp://nas/", "file:///srv/"])
@pytest.mark.parametrize("escaped", [True, False])
def test_a_name_with_odd_ends_leads_to_itself(place: str, name: str, escaped: bool):
    target = parse_target(place + "x")
    odd = replace(target, path=target.path[:-1] + name)
    assert parse_target(format_target(odd, escaped=escaped)) == odd


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("nas/public", ""),
        ("smb://nas/public --credentials /a login", "/a login"),
        (" nas/public  --credentials=~/login ", "~/login"),
    ],
)
def test_a_target_is_typed_with_the_file_of_its_login(typed: str, path: str):
    assert parse_target_with_login(typed) == (parse_target("smb://nas/public"), path)


def test_a_folder_may_have_blanks_and_a_login_needs_its_file():
    assert parse_target_with_login("/a b/c --credentialsX") == (parse_target("/a b/c --credentialsX"), "")
    with pytest.raises(UsageError):
        parse_target_with_login("nas/public --credentials ")


@pytest.mark.parametrize("options", ["--block 64K", "--sign", "--like smbclient --credentials login"])
def test_an_option_of_the_command_line_is_no_part_of_a_target(options: str):
    with pytest.raises(UsageError, match="is an option of the command line"):
        parse_target_with_login(f"nas/public {options}")
    assert parse_target_with_login("/a --blocks/c")[0] == parse_target("/a --blocks/c")


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        (r"\\?\UNC\files\public\image.iso", "smb://files/public/image.iso"),
        (r"\\.\unc\files\public", "smb://files/public"),
        (r'"\\files\public\my image.iso"', "smb://files/public/my image.iso"),
        ("'smb://ada@files/public'", "smb://ada@files/public"),
        ("smb://files//public//a/", "smb://files/public/a"),
        (r"\\files\public\\a", "smb://files/public/a"),
        ("smb://[fe80::1%25eth0]/public", "smb://[fe80::1%eth0]/public"),
        ("smb://[fe80::1%eth0]/public", "smb://[fe80::1%eth0]/public"),
    ],
)
def test_what_people_copy_from_elsewhere_is_read(typed: str, url: str):
    assert format_target(parse_typed_target(typed)) == url


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (r"\\files@SSL\DavWWWRoot\x", "WebDAV"),
        (r"\\files@8443\x", "WebDAV"),
        ("//files@ssl@8443/x", "WebDAV"),
        ("smb://my files/public", "has a blank"),
        ("smb:// files/public", "has a blank"),
        ("smb://fi\u200bles/public", "not printed"),
        (r"\\.\files\public", "no host"),
        ('"', "not a target"),
        ('""', "nothing was typed"),
        (r"files\public\x", "did you mean smb://files/public/x?"),
        (r"files\\public", "did you mean smb://files/public?"),
        ("cifs://files/public", "did you mean smb://files/public?"),
        ("afp://files/public", "did you mean smb://files/public?"),
    ],
)
def test_what_is_no_share_is_refused_in_words(typed: str, words: str):
    with pytest.raises(UsageError) as refusal:
        parse_typed_target(typed)
    assert words in str(refusal.value)


def test_a_login_before_slashes_is_no_folder_of_the_web():
    assert parse_typed_target("//ada@files/public").user == "ada"


@pytest.mark.parametrize(
    ("typed", "host", "port", "user"),
    [
        ("[::1]/data", "::1", 445, None),
        ("[fe80::1%eth0]:4450/data", "fe80::1%eth0", 4450, None),
        ("alice@[2001:db8::1]/data", "2001:db8::1", 445, "alice"),
        ("//[::1]/data", "::1", 445, None),
    ],
)
def test_an_ipv6_address_in_brackets_is_typed_like_a_name(typed: str, host: str, port: int, user: str | None):
    target = parse_typed_target(typed)
    assert (target.host, target.port, target.user, target.share) == (host, port, user, "data")


def test_brackets_are_advised_for_an_ipv6_address_alone():
    with pytest.raises(UsageError, match=r"in brackets: \[2001:db8::1\]"):
        parse_target("smb://2001:db8::1/data")
    with pytest.raises(UsageError, match="no host in"):
        parse_target("smb://nas:445:445/data")


@pytest.mark.parametrize("host", ["files\u2215public", "files\uff0fpublic", "fi$les", "a+b", "files\u2024lan"])
def test_a_sign_that_no_host_has_is_named(host: str):
    with pytest.raises(UsageError, match="no host is called"):
        parse_target(f"smb://{host}/share")


@pytest.mark.parametrize("host", ["büro-nas", "nas_1", "बैकअप", "xn--bro-hoa.example", "10.0.0.1", "fe80::1%eth0"])
def test_letters_of_any_language_may_name_a_host(host: str):
    address = f"[{host}]" if ":" in host else host
    assert parse_target(f"smb://{address}/share").host == host


def test_a_backslash_that_is_written_twice_is_one():
    assert typed_user(r"LAB\\carol") == ("LAB", "carol")
    assert parse_target(r"smb://LAB\\carol@files/data").domain == "LAB"


@pytest.mark.parametrize("user", ["%s", "x%41y", "a@b", "a/b"])
@pytest.mark.parametrize("escaped", [True, False])
def test_a_user_with_signs_that_mean_something_leads_to_itself(user: str, escaped: bool):
    target = smb(user=user)
    assert parse_target(format_target(target, escaped=escaped)) == target
