"""Looking around through a client: what is listed, in what order, and where each name leads."""

from dataclasses import replace

import pytest

from app.base.errors import LoginError, NotAFileError
from app.clients.base import DirectoryEntry, Secrets
from app.clients.browsing import ItemKind, inside, items, look
from app.clients.session_logins import Logins, PasswordNeededError
from forms.series.file_size import FileSizeContext
from storage.records import Target

SMB = Target(protocol="smb", host="nas", port=445, share="data", user="me")
GIGABIT = FileSizeContext(link_bits_per_second=1_000_000_000)
ENTRIES = [
    DirectoryEntry(name="b.bin", is_folder=False, size_bytes=2 << 30),
    DirectoryEntry(name="Zoo", is_folder=True, size_bytes=0),
    DirectoryEntry(name="A.bin", is_folder=False, size_bytes=3),
    DirectoryEntry(name="apes", is_folder=True, size_bytes=0),
]


class FakeClient:
    """Lists what it was given, and remembers whether it was closed."""

    def __init__(self, target):
        self.target = target
        self.closed = 0

    def connect(self):
        if self.target.host == "away":
            raise LoginError("refused")

    def shares(self):
        return ["b", "A", "IPC$"]

    def list(self, path):
        assert path == "a"
        return ENTRIES

    def size(self, path):
        if path.endswith("a"):
            raise NotAFileError("a folder")
        return 2 << 30

    def close(self):
        self.closed += 1


@pytest.fixture
def made():
    return []


@pytest.fixture
def make(made):
    def make_client(target):
        made.append(FakeClient(target))
        return made[-1]

    return make_client


def test_folders_come_first_then_files_by_name():
    found = items(Target(protocol="smb", host="nas", share="data", path="a"), ENTRIES, GIGABIT)
    assert [(item.kind, item.path) for item in found] == [
        (ItemKind.UP, ""),
        (ItemKind.FOLDER, "a/apes"),
        (ItemKind.FOLDER, "a/Zoo"),
        (ItemKind.FILE, "a/A.bin"),
        (ItemKind.FILE, "a/b.bin"),
    ]
    assert [(item.size, item.suits) for item in found[3:]] == [("3", "! too small"), ("2G", "+ good")]


def test_a_share_list_where_no_share_is_named(make, made):
    place = look(Target(protocol="smb", host="nas"), make, GIGABIT)
    assert place.is_share_list
    assert [item.name for item in place.items] == ["A", "b", "IPC$"]
    assert made[0].closed == 1


def test_a_file_named_by_the_target_is_found_in_its_folder(make):
    place = look(Target(protocol="smb", host="nas", share="data", path="a/b.bin"), make, GIGABIT)
    assert place.target.path == "a"
    assert place.file is not None
    assert (place.file.path, place.file.size_bytes) == ("a/b.bin", 2 << 30)


def test_a_folder_named_by_the_target_is_listed(make):
    place = look(Target(protocol="smb", host="nas", share="data", path="a"), make, GIGABIT)
    assert place.file is None
    assert len(place.items) == 5


def test_a_bare_path_has_nothing_to_list(make):
    assert look(Target(protocol="iperf3", host="nas"), make, GIGABIT).items == ()


def test_the_client_is_closed_when_it_fails(make, made):
    with pytest.raises(LoginError):
        look(Target(protocol="smb", host="away"), make, GIGABIT)
    assert made[0].closed == 1


@pytest.mark.parametrize(
    ("target", "up"),
    [
        (Target(protocol="smb", host="nas", share="data", path="a/b"), ("data", "a")),
        (Target(protocol="smb", host="nas", share="data", path="a"), ("data", "")),
        (Target(protocol="smb", host="nas", share="data"), (None, "")),
        (Target(protocol="ftp", host="nas", path="/a/b"), (None, "/a")),
        (Target(protocol="ftp", host="nas", path="/a"), (None, "/")),
        (Target(protocol="file", path="/a"), (None, "/")),
    ],
)
def test_the_way_up(target, up):
    above = inside(target, items(target, [], GIGABIT)[0])
    assert (above.share, above.path) == up


def test_there_is_nothing_above_the_root():
    assert items(Target(protocol="ftp", host="nas", path="/"), [], GIGABIT) == ()


def test_logins_are_kept_by_server_and_user_and_in_memory_only(monkeypatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    logins = Logins()
    with pytest.raises(PasswordNeededError):
        logins.find(SMB)
    logins.keep(SMB, Secrets(password="x"))
    assert logins.find(Target(protocol="smb", host="nas", port=445, share="other", user="me")).password == "x"
    with pytest.raises(PasswordNeededError):
        logins.find(Target(protocol="smb", host="nas", port=445, share="data", user="you"))
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "y")
    assert logins.find(SMB).password == "x", "what was typed goes before the environment"
    assert logins.find(SMB, kerberos=True) == Secrets(kerberos=True)
    assert logins.find(Target(protocol="file", path="/a")) == Secrets()


def test_a_password_that_was_refused_is_not_found_again_wherever_it_came_from(monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "of the environment")
    logins, you, guest = Logins(), replace(SMB, user="you"), replace(SMB, user=None)
    assert logins.find(SMB).password == "of the environment"
    for refused in (SMB, guest):
        logins.refuse(refused)
    with pytest.raises(PasswordNeededError, match="refused"):
        logins.find(SMB)
    assert logins.is_refused(SMB)
    assert not logins.knows(SMB)
    assert logins.find(you).password == "of the environment", "another user's may be right"
    assert logins.find(guest) == Secrets(), "a guest has none that could lock anything"
    logins.keep(SMB, Secrets(password="typed"))
    assert logins.find(SMB).password == "typed"
    assert not logins.is_refused(SMB)
    logins.refuse(SMB)
    with pytest.raises(PasswordNeededError):
        logins.find(SMB)
