"""Targets as they are copied: what stands around them is no part of them, and no password beside one is repeated."""

import pytest

from app.base.errors import PasswordInURLError, UsageError
from app.base.targets import parse_target, parse_typed_target
from storage.records import Target, format_target


@pytest.mark.parametrize(
    "typed",
    [
        "<smb://files/public>",
        r"<\\files\public>",
        "“smb://files/public”",
        r"„\\files\public“",
        "«smb://files/public»",
        "\N{LEFT SINGLE QUOTATION MARK}smb://files/public\N{RIGHT SINGLE QUOTATION MARK}",
        "`smb://files/public`",
        "(smb://files/public)",
        r'"\\files\public",',
        "\ufeffsmb://files/public",
        "smb://files/public\u200b",
        "//?/UNC/files/public",
        r"\??\UNC\files\public",
    ],
)
def test_what_stands_around_a_target_is_no_part_of_it(typed: str):
    assert format_target(parse_typed_target(typed)) == "smb://files/public"


@pytest.mark.parametrize(
    "url",
    ['smb://files/public/"a".iso', "smb://files/public/(1)", "smb://files/public/<a>", "/srv/a`", "smb://a/b/`c`"],
)
def test_quotes_and_brackets_of_a_name_stay(url: str):
    assert format_target(parse_target(url), escaped=False).endswith(url.rpartition("/")[2])


@pytest.mark.parametrize(
    "line",
    [
        "mount -t cifs //files/public /mnt -o username=ada,password=PW",
        "//files/public /mnt cifs username=ada,pass=PW 0 0",
        "//files/public -U ada%PW",
        r"smbclient \\files\public -U 'LAB\ada%PW'",
        "smb://files/public?user=ada&password=PW",
        "curl --user ada%PW smb://files/public",
    ],
)
def test_a_password_beside_a_target_is_refused_and_not_repeated(line: str):
    with pytest.raises(PasswordInURLError) as caught:
        parse_typed_target(line)
    assert "PW" not in str(caught.value).replace("SHAREBENCH_PASSWORD", "")


@pytest.mark.parametrize("escape", ["%3A", "%3a"])
@pytest.mark.parametrize("url", ["smb://ada{}PW@files/public", "ftp://ada{}PW@files/x"])
def test_a_password_behind_an_escaped_colon_is_one(url: str, escape: str):
    with pytest.raises(PasswordInURLError):
        parse_target(url.format(escape))


@pytest.mark.parametrize(
    "line",
    [
        r"net use Z: \\files\public PW",
        r"net use Z: \\files\public /user:LAB\ada PW",
        r"New-PSDrive -Name Z -Root \\files\public -Credential PW",
        "mount_smbfs //ada:PW@files/public /Volumes/public",
        "smbclient //files/public -U ada",
        "//files/public /mnt cifs credentials=/root/PW 0 0",
        "smb://files/public -U ada",
        "xdg-open smb://files/public",
        r"Server: \\files\public",
    ],
)
def test_a_line_with_a_target_inside_is_answered_with_that_target_alone(line: str):
    with pytest.raises(UsageError, match=r"write smb://files/public$") as caught:
        parse_typed_target(line)
    assert "PW" not in str(caught.value)


@pytest.mark.parametrize("path", ["/srv/a,password=b", "/srv/x cifs y", "file:///srv/-U a%b"])
def test_a_local_path_may_look_like_such_a_line(path: str):
    assert parse_typed_target(path).protocol == "file"


@pytest.mark.parametrize("name", ["open", "start", "curl", "ftp", "mount"])
def test_a_host_may_be_called_like_a_command(name: str):
    assert parse_typed_target(f"{name}/public").host == name
    assert parse_target(f"smb://{name}/public").host == name


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (r"public (\\files) (Z:)", "did you mean smb://files/public?"),
        (r"public (\\files\data)", "did you mean smb://files/data/public?"),
        ("smb//files/public", "did you mean smb://files/public?"),
        (r"smb://files\public\x", "did you mean smb://files/public/x?"),
        (r"smb://files/public\x", "did you mean smb://files/public/x?"),
        ("smb://files/public>", "has no >"),
        ("smb://files/a%2Fb", "has no /"),
        ("smb://files/public?x", "has no ?"),
        ("2001:db8::1", "smb://[2001:db8::1]/SHARE"),
        ("file://files/public", "a share is smb://HOST/SHARE"),
    ],
)
def test_what_would_be_another_host_or_share_is_refused_in_words(typed: str, words: str):
    with pytest.raises(UsageError) as caught:
        parse_typed_target(typed)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("host", "address"), [("2001-db8--1", "2001:db8::1"), ("fe80--1s4", "fe80::1%4"), ("FE80--1", "FE80::1")]
)
def test_an_ipv6_address_as_windows_writes_it(host: str, address: str):
    assert parse_target(rf"\\{host}.ipv6-literal.net\public").host == address


def test_an_escaped_semicolon_parts_domain_and_user():
    expected = Target(protocol="smb", host="files", port=445, user="ada", domain="LAB", share="public", path="")
    assert parse_target("smb://LAB%3Bada@files/public") == expected


@pytest.mark.parametrize(
    "line",
    [
        "lftp -u ada,PW files",
        "ncftpput -u ada -p PW files . /x",
        "smbmap -H files -u ada -p PW",
        "tool /login:ada:PW x",
    ],
)
def test_the_options_of_a_command_are_not_repeated(line: str):
    with pytest.raises(UsageError, match="the line of a command") as caught:
        parse_typed_target(line)
    assert "PW" not in str(caught.value)


@pytest.mark.parametrize(
    "typed", ["files/public/plans -old", "smb://files/public/a -u b", r"\\files\public\plans -old"]
)
def test_a_name_may_have_a_blank_and_a_hyphen(typed: str):
    assert parse_typed_target(typed).host == "files"


@pytest.mark.parametrize(
    "line",
    [
        r"robocopy C:\data \\files\public /E",
        r"xcopy /E C:\data \\files\public",
        r"Laufwerk: \\files\public",
        r'runas /user:LAB\ada "\\files\public"',
    ],
)
def test_a_target_behind_any_words_is_suggested(line: str):
    with pytest.raises(UsageError, match=r"write smb://files/public$"):
        parse_typed_target(line)
