"""The client against a default smbd: every method, every name, every error that an admin can meet."""

import contextlib
import hashlib
import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from unittest.mock import Mock

import pytest
from impacket.dcerpc.v5.rpcrt import DCERPC_v5
from impacket.ntlm import compute_nthash
from impacket.smbconnection import SessionError

from app.base.errors import (
    AccessDeniedError,
    CancelledError,
    ConnectionLostError,
    GuestDeniedError,
    LoginError,
    NoSpaceError,
    NoSuchFileError,
    NoSuchShareError,
    NotAFileError,
    ProtocolError,
    StalledError,
    UnreachableError,
    UsageError,
)
from app.clients.base import Content, Meter, Secrets
from app.clients.smb.client import SMBClient
from app.clients.smb.session import Session
from storage.plan import Settings
from storage.records import Target
from tests.app.clients.smb.conftest import Blocks, content_bytes
from tests.servers.process import free_port
from tests.waiting import HANG_SECONDS, wait_for

MIB = 1 << 20
ODD = 5 * MIB + 12345


def one_line(error: BaseException, *parts: str) -> None:
    text = str(error)
    assert "\n" not in text
    assert ";" in text, "no advice"
    for part in parts:
        assert part in text


def test_get_brings_every_byte(smbd, make_client, meter):
    data = os.urandom(ODD)
    smbd.make_file("odd.bin", data)
    blocks = Blocks(ODD)
    transfer = make_client(smbd).get("odd.bin", meter, blocks)
    assert blocks.data == data
    assert transfer.size_bytes == ODD
    assert transfer.seconds > 0
    assert transfer.open_seconds is not None
    assert transfer.close_seconds is not None


def test_put_writes_every_byte_and_remove_leaves_nothing(smbd, make_client, meter):
    client, content = make_client(smbd), Content(ODD)
    transfer = client.put("sent.bin", content, meter)
    assert transfer.size_bytes == ODD
    assert (smbd.folder / "sent.bin").read_bytes() == content_bytes(content)
    client.remove("sent.bin")
    assert not (smbd.folder / "sent.bin").exists()
    client.remove("sent.bin")


def test_put_never_replaces_a_file(smbd, make_client, meter):
    smbd.make_file("precious.txt", b"keep me")
    with pytest.raises(AccessDeniedError) as caught:
        make_client(smbd).put("precious.txt", Content(MIB), meter)
    one_line(caught.value, "precious.txt", smbd.host)
    assert (smbd.folder / "precious.txt").read_bytes() == b"keep me"


def test_digest_by_the_other_way_agrees(smbd, make_client, meter):
    client, content = make_client(smbd), Content(ODD)
    client.put("digest.bin", content, meter)
    assert client.digest("digest.bin") == content.digest()
    assert client.digest("digest.bin") == hashlib.sha256((smbd.folder / "digest.bin").read_bytes()).hexdigest()


@pytest.mark.parametrize("size", [1, 65535, 65536, 65537, 8 * MIB])
@pytest.mark.parametrize("block", [4096, 65536, 100_000, 3 * MIB])
def test_any_size_in_any_block(smbd, make_client, meter, size, block):
    client, content, blocks = make_client(smbd, block_bytes=block, in_flight=3), Content(size), Blocks(size)
    client.put("sizes.bin", content, meter)
    client.get("sizes.bin", meter, blocks)
    client.remove("sizes.bin")
    assert blocks.data == content_bytes(content)
    assert max(blocks.seen.values()) <= block


NAMES = [
    "with some spaces.bin",
    "quotes'n\"more.bin" if sys.platform == "win32" else "quote's.bin",
    "[brackets] {braces} (parens).bin",
    "Grüße, 世界, 🚀.bin",
    "100% %41 %20.bin",
    "-rf.bin",
    "semi;colon&and=equals+plus,comma.bin",
    "#hash~tilde`tick$dollar!bang@at.bin",
    "folder with spaces/sub [1]/ünder.bin",
]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_only_names(smbd, make_client, meter, name):
    folder = (smbd.folder / name).parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    client = make_client(smbd)
    client.put(name, Content(1000), meter)
    parent, _, leaf = name.rpartition("/")
    assert client.size(name) == 1000
    assert client.get(name, meter).size_bytes == 1000
    assert leaf in [entry.name for entry in client.list(parent)]
    assert len(client.digest(name)) == 64
    client.remove(name)
    assert not (smbd.folder / name).exists()


def test_list_tells_folders_from_files(make_smbd, make_client):
    server = make_smbd()
    server.make_file("file.bin", b"12345")
    (server.folder / "folder").mkdir()
    entries = {entry.name: entry for entry in make_client(server).list("")}
    assert set(entries) == {"file.bin", "folder"}
    assert entries["folder"].is_folder
    assert not entries["file.bin"].is_folder
    assert entries["file.bin"].size_bytes == 5
    assert entries["file.bin"].modified_at.endswith("Z")


def test_list_of_ten_thousand_files(smbd, make_client):
    folder = smbd.folder / "many"
    folder.mkdir()
    for number in range(10_000):
        (folder / f"file number {number}").touch()
    assert len(make_client(smbd).list("many")) == 10_000


def test_shares_are_found_without_naming_one(smbd, make_client):
    client = make_client(smbd, changes={"share": None})
    assert client.shares() == [smbd.share, smbd.guest_share]
    with pytest.raises(UsageError, match="which share"):
        client.list("")


@pytest.mark.parametrize("lost", [1, 2])
def test_shares_are_asked_for_again_once_if_what_serves_the_pipe_ended(make_smbd, make_client, monkeypatch, lost):
    server = make_smbd()
    client = make_client(server, changes={"share": None})
    bind, ended = DCERPC_v5.bind, []  # type: ignore[var-annotated]

    def end_first(*arguments: object) -> object:
        if len(ended) < lost:
            ended.append(server.end_helpers())
        return bind(*arguments)

    monkeypatch.setattr(DCERPC_v5, "bind", end_first)
    fails = pytest.raises(ProtocolError, match=r"STATUS_PIPE_(DISCONNECTED|BROKEN)")
    with fails if lost == 2 else contextlib.nullcontext():
        assert client.shares() == [server.share, server.guest_share]
    assert len(ended) == lost


def test_shares_that_are_refused_are_asked_for_once(smbd, make_client, monkeypatch):
    asked = []

    def refuse(*_: object) -> None:
        asked.append(1)
        raise SessionError(0xC0000022)

    monkeypatch.setattr(DCERPC_v5, "bind", refuse)
    with pytest.raises(AccessDeniedError):
        make_client(smbd, changes={"share": None}).shares()
    assert asked == [1]


def test_a_share_without_a_name_is_left_out(smbd, make_client, monkeypatch):
    client = make_client(smbd, changes={"share": None})
    rows = [{"shi1_netname": name, "shi1_remark": "\0", "shi1_type": 0} for name in ("one\0", b"", "two\0")]
    answer = {"InfoStruct": {"ShareInfo": {"Level1": {"Buffer": rows}}}}
    monkeypatch.setattr("impacket.dcerpc.v5.srvs.hNetrShareEnum", lambda *_, **__: answer)
    assert client.shares() == ["one", "two"]


def test_facts_of_a_default_server(smbd, make_client):
    client = make_client(smbd)
    client.connect()
    facts, path = client.facts(), client.facts_of_path()
    assert (facts.name, facts.dialect, facts.signing, facts.encryption) == ("sharebench", "3.1.1", "none", "none")
    assert facts.block_bytes
    assert facts.in_flight
    assert path["smb.max_read_bytes"] == path["smb.max_write_bytes"] == 8 * MIB
    assert path["smb.requires_signing"] == path["smb.guest"] == "no"
    assert path["address.server"] == "127.0.0.1"
    assert int(path["smb.credits"]) * 65536 >= facts.block_bytes * facts.in_flight


def test_block_and_depth_are_taken_as_asked(smbd, make_client):
    facts = make_client(smbd, block_bytes=256 * 1024, in_flight=7).facts()
    assert (facts.block_bytes, facts.in_flight) == (256 * 1024, 7)
    assert make_client(smbd, block_bytes=64 * MIB).facts().block_bytes == 8 * MIB


def test_connection_is_kept_and_made_anew_when_lost(smbd, make_client, meter):
    smbd.make_file("kept.bin", b"x" * 1000)
    client = make_client(smbd)
    client.connect()
    before = client.facts_of_path()
    client.connect()
    again = client.facts_of_path()
    assert again.keys() == before.keys()
    assert not [name for name in before if before[name] != again[name] and not name.endswith("_seconds")]
    client.abort()
    with pytest.raises(CancelledError):
        client.get("kept.bin", meter)
    client.close()
    assert client.get("kept.bin", meter).size_bytes == 1000


def test_guest(smbd, make_client, meter):
    client = make_client(smbd, guest=True)
    client.put("from a guest.bin", Content(100_000), meter)
    assert client.get("from a guest.bin", meter).size_bytes == 100_000
    assert client.facts_of_path()["smb.guest"] == "yes"
    client.remove("from a guest.bin")
    named = make_client(smbd, guest=True, changes={"user": "guest"})
    named.connect()
    assert named.facts_of_path()["smb.guest"] == "yes"


def test_a_guest_in_front_of_a_users_share_is_told_to_log_in(smbd, make_client):
    for user in (None, "mistyped"):
        with pytest.raises(GuestDeniedError) as caught:
            make_client(smbd, changes={"user": user}, secrets=Secrets()).connect()
        assert "try it as a user that it knows" in str(caught.value)
        assert ("logged it in as a guest" in str(caught.value)) is (user is not None)


@pytest.mark.parametrize("extra", ["sign", "encrypt"])
def test_guest_cannot_sign_or_encrypt(smbd, make_client, extra):
    with pytest.raises(LoginError, match="guest"):
        make_client(smbd, guest=True, **{extra: True}).connect()


def test_nt_hash_in_place_of_the_password(smbd, make_client):
    nt_hash = compute_nthash(smbd.password).hex()
    make_client(smbd, secrets=Secrets(nt_hash=nt_hash)).connect()
    with pytest.raises(LoginError):
        make_client(smbd, secrets=Secrets(nt_hash="00" * 16)).connect()


def test_wrong_password_names_user_and_host_and_no_secret(smbd, make_client):
    with pytest.raises(LoginError) as caught:
        make_client(smbd, secrets=Secrets(password="Sesame!")).connect()
    one_line(caught.value, smbd.host, smbd.user, "password")
    assert "Sesame" not in str(caught.value)


def test_login_says_nothing_aloud(smbd, make_client, capfd):
    make_client(smbd).connect()
    with pytest.raises(LoginError):
        make_client(smbd, secrets=Secrets(password="Sesame!")).connect()
    assert capfd.readouterr() == ("", "")


def test_missing_kerberos_ticket(smbd, make_client, monkeypatch, tmp_path):
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/none")
    with pytest.raises(LoginError, match="kinit"):
        make_client(smbd, secrets=Secrets(kerberos=True)).connect()


def test_unusable_kerberos_ticket(smbd, make_client, monkeypatch, tmp_path):
    (tmp_path / "ticket").write_bytes(b"\x05\x04")
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "ticket"))
    with pytest.raises(LoginError) as caught:
        make_client(smbd, secrets=Secrets(kerberos=True)).connect()
    one_line(caught.value, smbd.host)


def test_unknown_host():
    target = Target(protocol="smb", host="no-such-host.invalid", share="s")
    with pytest.raises(UnreachableError) as caught:
        SMBClient(target, Secrets(), Settings()).connect()
    one_line(caught.value, "no-such-host.invalid")


def test_closed_port():
    port = free_port()
    target = Target(protocol="smb", host="127.0.0.1", port=port, share="s")
    with pytest.raises(UnreachableError) as caught:
        SMBClient(target, Secrets(), Settings()).connect()
    one_line(caught.value, f"127.0.0.1:{port}")


def test_no_such_share(smbd, make_client):
    with pytest.raises(NoSuchShareError) as caught:
        make_client(smbd, changes={"share": "nowhere"}).connect()
    one_line(caught.value, smbd.host, "nowhere", f"it lists {', '.join(make_client(smbd).shares())}")


def test_no_such_share_where_the_server_lists_none(smbd, make_client, monkeypatch):
    monkeypatch.setattr(Session, "share_names", Mock(side_effect=AccessDeniedError("may not list")))
    with pytest.raises(NoSuchShareError, match=r"check the share.s name$"):
        make_client(smbd, changes={"share": "nowhere"}).connect()


@pytest.mark.parametrize(("count", "ends"), [(10, "share 9)"), (11, "share 9, …)")])
def test_no_such_share_names_ten_of_those_there_are(smbd, make_client, monkeypatch, count: int, ends: str):
    monkeypatch.setattr(Session, "share_names", Mock(return_value=[f"share {number}" for number in range(count)]))
    with pytest.raises(NoSuchShareError) as caught:
        make_client(smbd, changes={"share": "nowhere"}).connect()
    assert str(caught.value).endswith(ends)


@pytest.mark.parametrize("method", ["get", "size", "digest"])
def test_no_such_file(smbd, make_client, meter, method):
    client = make_client(smbd)
    with pytest.raises(NoSuchFileError) as caught:
        getattr(client, method)("no/such file", *([meter] if method == "get" else []))
    one_line(caught.value, smbd.host, smbd.share, "no/such file")
    client.list("")


def test_list_of_what_is_no_folder(smbd, make_client):
    smbd.make_file("plain.txt", b"x")
    client = make_client(smbd)
    for path in ("nowhere", "plain.txt"):
        with pytest.raises(NoSuchFileError) as caught:
            client.list(path)
        one_line(caught.value, smbd.share, path)


@pytest.mark.parametrize("path", ["", "a folder"])
@pytest.mark.parametrize("method", ["get", "size"])
def test_folder_given_as_the_file(smbd, make_client, meter, path, method):
    (smbd.folder / "a folder").mkdir(exist_ok=True)
    with pytest.raises(NotAFileError, match="folder"):
        getattr(make_client(smbd), method)(path, *([meter] if method == "get" else []))


def test_empty_file(smbd, make_client, meter):
    smbd.make_file("empty.bin", b"")
    client = make_client(smbd)
    with pytest.raises(NotAFileError, match="empty"):
        client.get("empty.bin", meter)
    assert client.size("empty.bin") == 0


def test_share_that_cannot_be_written(make_smbd, make_client, meter):
    server = make_smbd(share_options={"read only": "yes"})
    client = make_client(server)
    with pytest.raises(AccessDeniedError) as caught:
        client.put("refused.bin", Content(MIB), meter)
    one_line(caught.value, server.host, server.share, "refused.bin")


def test_file_that_cannot_be_read(smbd, make_client, meter):
    smbd.make_file("secret.bin", b"x").chmod(0)
    with pytest.raises(AccessDeniedError, match=r"secret\.bin"):
        make_client(smbd).get("secret.bin", meter)


def test_disk_that_fills_up(make_smbd, make_client, meter, small_disk):
    server = make_smbd(share_options={"path": str(small_disk)})
    client = make_client(server)
    with pytest.raises(NoSpaceError) as caught:
        client.put("too big.bin", Content(16 * MIB), meter)
    one_line(caught.value, server.share, "too big.bin")
    client.remove("too big.bin")
    assert list(small_disk.iterdir()) == []


def test_server_that_dies_in_mid_transfer(make_smbd, make_client):
    server = make_smbd()
    server.make_file("large.bin", bytes(64 * MIB))
    client = make_client(server, block_bytes=65536, in_flight=1)

    def kill(_offset: int, _block: memoryview) -> None:
        server.kill()

    with pytest.raises(ConnectionLostError) as caught:
        client.get("large.bin", Meter(threading.Event()), kill)
    one_line(caught.value, server.host, "large.bin")


def test_server_that_stalls(make_smbd, make_client):
    server = make_smbd()
    server.make_file("large.bin", bytes(64 * MIB))
    client = make_client(server, block_bytes=65536, in_flight=1)
    client.connect()
    channel = client._channel
    assert channel is not None
    channel.stall.seconds = 0.5

    def suspend(_offset: int, _block: memoryview) -> None:
        server.suspend()

    with pytest.raises(StalledError) as caught:
        client.get("large.bin", Meter(threading.Event()), suspend)
    server.resume()
    one_line(caught.value, server.host, "large.bin", "allow it more time")


def test_login_at_a_server_that_stalls(make_smbd, make_client):
    server = make_smbd()
    server.suspend()
    with pytest.raises(StalledError):
        make_client(server, timeout_seconds=2.0).connect()
    server.resume()


@pytest.mark.parametrize("command", ["get", "put"])
def test_cancelling_ends_a_transfer_and_the_next_one_works(smbd, make_client, command):
    smbd.make_file("cancel.bin", bytes(64 * MIB))
    client, cancelled = make_client(smbd), threading.Event()
    cancelled.set()
    meter = Meter(cancelled, interval_seconds=0.0)
    with pytest.raises(CancelledError):
        client.get("cancel.bin", meter) if command == "get" else client.put("part.bin", Content(64 * MIB), meter)
    client.remove("part.bin")
    assert client.get("cancel.bin", Meter(threading.Event())).size_bytes == 64 * MIB
    wait_for(lambda: not (smbd.folder / "part.bin").exists())  # smbd ends what was cancelled when it notices


def test_abort_from_another_thread_ends_what_blocks(make_smbd, make_client):
    server = make_smbd()
    server.make_file("large.bin", bytes(64 * MIB))
    client = make_client(server, block_bytes=65536, in_flight=1)
    client.connect()
    stuck = threading.Event()

    def suspend(_offset: int, _block: memoryview) -> None:
        server.suspend()
        stuck.set()

    def abort() -> None:
        stuck.wait(HANG_SECONDS)
        client.abort()
        client.abort()

    thread = threading.Thread(target=abort)
    thread.start()
    with pytest.raises(CancelledError):
        client.get("large.bin", Meter(threading.Event()), suspend)
    thread.join()
    server.resume()


def test_ipv6(make_smbd, make_client, meter):
    server = make_smbd({"interfaces": "lo", "bind interfaces only": "no"})
    server.make_file("six.bin", b"six")
    client = make_client(server, changes={"host": "::1"})
    assert client.get("six.bin", meter).size_bytes == 3
    assert client.facts_of_path()["address.server"] == "::1"
    with pytest.raises(NoSuchFileError, match="nothing"):
        client.size("nothing")


def test_close_never_raises(smbd, make_client):
    client = make_client(smbd)
    client.close()
    client.connect()
    client.close()
    client.close()
    client.abort()
    client.close()


def test_memory_stays_small_whatever_the_size(smbd):
    smbd.make_file("memory.bin", b"")
    os.truncate(smbd.folder / "memory.bin", 512 * MIB)
    script = textwrap.dedent(
        """
        import sys, threading
        from pathlib import Path
        from app.clients.base import Meter, Secrets
        from storage.plan import Settings
        from app.clients.base import Content
        from app.clients.smb.client import SMBClient
        from storage.records import Target
        target = Target(protocol="smb", host=sys.argv[1], port=int(sys.argv[2]), share=sys.argv[3], user=sys.argv[4])
        client = SMBClient(target, Secrets(password=sys.argv[5]), Settings())
        meter = Meter(threading.Event())
        client.get("memory.bin", meter)
        client.put("memory too.bin", Content(256 * 1024 * 1024), meter)
        client.remove("memory too.bin")
        peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        print(int(peak.split()[1]) * 1024)
        """
    )
    arguments = [smbd.host, str(smbd.port), smbd.share, smbd.user, smbd.password]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200 * MIB


def test_target_is_kept_as_it_was_given(smbd, make_client):
    client = make_client(smbd)
    assert client.target == replace(smbd.target())
