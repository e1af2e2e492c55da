"""The secrets of a session: what a server refused is not found again."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.clients.session_logins import Logins, PasswordNeededError
from storage.programs import PASSWORD_VARIABLE
from tests.tui import SMB


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Logins:
    """Of a session in which the environment's password was refused."""
    monkeypatch.setenv(PASSWORD_VARIABLE, "of the environment")
    logins = Logins()
    assert logins.find(SMB) == Secrets(password="of the environment")
    logins.refuse(SMB)
    return logins


def test_a_file_of_credentials_without_a_password_brings_no_refused_one_back(refused: Logins, tmp_path: Path):
    (tmp_path / "who").write_text("username = bench\n")
    target = refused.from_file(replace(SMB, user=None), tmp_path / "who")
    assert target == SMB
    with pytest.raises(PasswordNeededError, match="was refused"):
        refused.find(target)
    refused.keep(target, Secrets(password="typed"))
    refused.from_file(target, tmp_path / "who")
    assert refused.find(target) == Secrets(password="typed")


@pytest.mark.parametrize(
    ("line", "secrets"),
    [("password = s3", Secrets(password="s3")), (f"nthash = {'0' * 32}", Secrets(nt_hash="0" * 32))],
)
def test_a_file_of_credentials_is_another_try(refused: Logins, tmp_path: Path, line: str, secrets: Secrets):
    (tmp_path / "who").write_text(f"username = bench\n{line}\n")
    assert refused.find(refused.from_file(SMB, tmp_path / "who")) == secrets


@pytest.mark.parametrize(
    ("content", "login"),
    [
        ("username=LAB\\carol\npassword=pw\n", ("LAB", "carol")),
        ("username=carol\npassword=pw\ndomain=LAB\n", ("LAB", "carol")),
        ("username=carol\npassword=pw\n", ("CORP", "carol")),
        ("username=carol@LAB.EXAMPLE\npassword=pw\n", ("CORP", "carol@LAB.EXAMPLE")),
    ],
)
def test_a_file_of_credentials_names_the_user_as_on_the_command_line(
    content: str, login: tuple[str, str], tmp_path: Path
):
    (tmp_path / "who").write_text(content)
    logins = Logins()
    target = logins.from_file(replace(SMB, domain="CORP"), tmp_path / "who")
    assert (target.domain, target.user) == login
    assert logins.find(target) == Secrets(password="pw")


def test_a_password_behind_the_user_of_a_file_is_refused(tmp_path: Path):
    (tmp_path / "who").write_text("username = carol%hush\n")
    with pytest.raises(UsageError) as caught:
        Logins().from_file(SMB, tmp_path / "who")
    assert "hush" not in str(caught.value)
