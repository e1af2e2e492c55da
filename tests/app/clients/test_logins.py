"""Logins: where a password may stand, and that it stays there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import LoginError, UsageError
from app.clients.base import Secrets
from app.clients.logins import log_in_as, read_credentials, same_login
from storage.records import Target
from tests.command_line import Inside

ALICE = Target(protocol="smb", host="server", port=445, share="s", path="f", user="alice")
NOBODY = Target(protocol="smb", host="server", port=445, share="s", path="f")


@pytest.fixture(autouse=True)
def _no_password_around(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    path = tmp_path / "credentials"
    path.write_text("# who\nusername = bob\npassword = two words = fine \ndomain=CORP\n")
    return path


def test_a_credentials_file_as_mount_cifs_reads_it(credentials: Path):
    found = read_credentials(credentials)
    assert (found.user, found.domain, found.password) == ("bob", "CORP", "two words = fine ")
    assert "fine" not in repr(found)


@pytest.mark.parametrize(
    ("content", "domain"),
    [
        (b"\xef\xbb\xbfusername=carol\r\npassword=pw\r\n", None),
        (b"user=carol\npass=pw\nworkgroup=LAB\n", "LAB"),
        (b"username = LAB\\carol\npassword = pw\n", "LAB"),
        (b"username = OLD\\carol\npass = pw\ndom = LAB\n", "LAB"),
        (b"username=LAB/carol\npassword=pw\n", "LAB"),
        (b"\xef\xbb\xbfusername=LAB\\carol\r\npassword = pw\r\n\r\n", "LAB"),
        (b"user=carol\rpassword=pw\r", None),
    ],
)
def test_a_credentials_file_of_notepad_or_of_mount_cifs(content: bytes, domain: str | None, tmp_path: Path):
    path = tmp_path / "credentials"
    path.write_bytes(content)
    target, secrets = log_in_as(NOBODY, credentials=path)
    assert (target.user, target.domain, secrets.password) == ("carol", domain, "pw")


def test_a_password_behind_the_user_of_a_file_is_refused_and_not_repeated(tmp_path: Path):
    path = tmp_path / "credentials"
    path.write_text("username = carol%hush\n")
    with pytest.raises(UsageError) as caught:
        log_in_as(NOBODY, credentials=path)
    assert "hush" not in str(caught.value)


def test_a_user_of_ftp_keeps_a_percent_and_a_backslash(tmp_path: Path):
    path = tmp_path / "credentials"
    path.write_text("username = LAB\\carol%site\npassword = pw\n")
    target, _ = log_in_as(Target(protocol="ftp", host="server", port=21, path="/f"), credentials=path)
    assert (target.user, target.domain) == ("LAB\\carol%site", None)


@pytest.mark.parametrize(
    ("content", "password"),
    [
        (b"user=carol\npassword=\n", ""),
        (b"user=carol\r\npassword = \r\n", ""),
        (b"user=carol\npassword=a=b#c;d\n", "a=b#c;d"),
        (b"user=carol\npassword= \xc2\xa0pw \n", "\u00a0pw "),
        # What Unicode calls a line end, and no program that reads such a file.
        ("user=carol\npassword=a\u2028b\x0bc\x85d\n".encode(), "a\u2028b\x0bc\x85d"),
    ],
)
def test_a_password_of_a_file_is_taken_as_it_stands(content: bytes, password: str, tmp_path: Path):
    path = tmp_path / "credentials"
    path.write_bytes(content)
    target, secrets = log_in_as(NOBODY, credentials=path, ask=lambda _prompt: "typed")
    assert (target.user, secrets.password) == ("carol", password)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_credentials_file_in_utf_16_is_told_as_that(tmp_path: Path, encoding: str):
    path = tmp_path / "credentials"
    path.write_bytes("username=carol\r\npassword=hush\r\n".encode(encoding))
    with pytest.raises(UsageError, match="UTF-16 text: save it as UTF-8") as caught:
        read_credentials(path)
    assert "hush" not in str(caught.value)


@pytest.mark.varied
@pytest.mark.parametrize(("mode", "is_warned_of"), [(0o644, True), (0o604, True), (0o640, False), (0o600, False)])
def test_a_file_that_everybody_can_read_is_warned_of_once(
    credentials: Path, mode: int, is_warned_of: bool, tmp_path: Path
):
    credentials.chmod(mode)
    checked = Inside(tmp_path / "n.db")("--credentials", str(credentials), "check", "smb://127.0.0.1:1/share")
    assert checked.stderr.count(f"chmod 600 {credentials}") == is_warned_of


def test_the_file_names_the_user_where_the_url_does_not(credentials: Path):
    target, secrets = log_in_as(NOBODY, credentials=credentials)
    assert (target.user, target.domain, secrets.password) == ("bob", "CORP", "two words = fine ")


def test_the_environment_comes_before_the_prompt(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "from the environment")

    def never(prompt: str) -> str:
        raise AssertionError(prompt)

    assert log_in_as(ALICE, ask=never)[1].password == "from the environment"


@pytest.mark.parametrize(("port", "host"), [(None, "server"), (445, "server"), (1445, "server:1445")])
def test_the_prompt_names_user_and_host_and_a_port_that_is_not_the_usual_one(port: int | None, host: str):
    asked = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "typed"

    assert log_in_as(replace(ALICE, port=port), ask=ask)[1].password == "typed"
    assert asked == [f"Password of alice on {host}: "]


def test_a_password_goes_to_another_host_of_a_survey_but_never_by_another_protocol():
    assert same_login(ALICE, replace(ALICE, host="127.0.0.1", port=1445))
    assert not same_login(ALICE, replace(ALICE, protocol="ftp", share=None))
    assert not same_login(ALICE, replace(ALICE, user="bob"))
    assert not same_login(ALICE, replace(ALICE, domain="OTHER"))


def test_nobody_to_ask_is_an_error_that_names_the_ways():
    with pytest.raises(LoginError, match=r"SHAREBENCH_PASSWORD.*a file of credentials"):
        log_in_as(ALICE)


def test_no_user_is_a_guest_and_a_local_path_needs_nobody(monkeypatch: pytest.MonkeyPatch):
    assert log_in_as(NOBODY) == (NOBODY, Secrets())
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "unused")
    local = Target(protocol="file", path="/x")
    assert log_in_as(local) == (local, Secrets())


def test_a_ticket_needs_no_password():
    assert log_in_as(ALICE, kerberos=True)[1] == Secrets(kerberos=True)


@pytest.mark.parametrize("text", ["nonsense\n", "username: bob\n", "passwort = x\n"])
def test_a_wrong_credentials_file_names_its_line_and_not_its_content(tmp_path: Path, text: str):
    path = tmp_path / "credentials"
    path.write_text("\n" + text)
    with pytest.raises(UsageError, match="line 2 of the credentials file") as caught:
        read_credentials(path)
    assert text.strip() not in str(caught.value)


def test_a_missing_credentials_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot read the credentials file"):
        read_credentials(tmp_path / "none")


def test_secrets_do_not_show_themselves():
    assert "hunter2" not in repr(Secrets(password="hunter2"))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"username = bob\npassword = gr\xfcn\n", "the password"),
        (b"username = J\xf6rg\npassword = pw\n", "the user"),
        (b"username = bob\ndomain = B\xdcRO\npassword = pw\n", "the domain"),
    ],
)
def test_a_login_that_is_no_utf_8_is_refused_for_smb_and_sent_as_it_is_over_ftp(
    tmp_path: Path, content: bytes, name: str
):
    file = tmp_path / "login"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=f"^{name} for nas has bytes that are no UTF-8") as caught:
        log_in_as(Target(protocol="smb", host="nas", share="s"), credentials=file)
    assert "gr" not in str(caught.value)

    target, secrets = log_in_as(Target(protocol="ftp", host="nas", path="/f"), credentials=file)
    for text in (target.user, secrets.password):
        assert (text or "").encode("utf-8", "surrogateescape") in content


def test_a_password_of_the_environment_that_is_no_utf_8_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "gr\udcfcn")
    with pytest.raises(UsageError, match="no UTF-8"):
        log_in_as(Target(protocol="smb", host="nas", share="s", user="bob"))


@pytest.mark.parametrize("line", ['username="carol"', 'user = "carol smith', 'domain="ACME"'])
def test_quotes_around_a_login_are_refused_and_not_sent(tmp_path: Path, line: str):
    path = tmp_path / "credentials"
    path.write_text(f"{line}\npassword=hush\n")
    with pytest.raises(UsageError, match="has quotes") as caught:
        read_credentials(path)
    assert "hush" not in str(caught.value)


def test_a_comment_may_begin_with_a_semicolon_and_a_password_with_a_quote(tmp_path: Path):
    path = tmp_path / "credentials"
    path.write_text('; of the office\nusername=carol\npassword="hu;sh#\n')
    credentials = read_credentials(path)
    assert (credentials.user, credentials.password) == ("carol", '"hu;sh#')


@pytest.mark.parametrize("line", ["username=alice:hush", "username=alice,password=hush", "user=CORP\\alice:hush"])
def test_a_password_in_the_line_of_the_user_is_refused_and_not_repeated(tmp_path: Path, line: str):
    path = tmp_path / "credentials"
    path.write_text(f"{line}\n")
    for target in (NOBODY, replace(NOBODY, protocol="ftp", share=None)):
        with pytest.raises(UsageError, match="password beside the user") as caught:
            log_in_as(target, credentials=path)
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize("quote", ["'", "\N{LEFT DOUBLE QUOTATION MARK}", "`"])
def test_each_kind_of_quotes_around_a_user_is_refused(tmp_path: Path, quote: str):
    path = tmp_path / "credentials"
    path.write_text(f"username={quote}alice{quote}\npassword=hush\n")
    with pytest.raises(UsageError, match="has quotes"):
        read_credentials(path)


def test_tabs_and_unseen_characters_around_a_login_are_no_part_of_it(tmp_path: Path):
    path = tmp_path / "credentials"
    path.write_text("username\t=\talice\u200b\npassword\t=\thush\n")
    login = read_credentials(path)
    assert (login.user, login.password) == ("alice", "hush")
