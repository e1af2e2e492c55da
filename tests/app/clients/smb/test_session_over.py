"""A session that the server ended by itself, as after a ticket's time: the request fails, and the next logs in anew."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from app.base.errors import ConnectionLostError, MeasurementError, NoSuchFileError, ProtocolError
from app.clients.base import Content, FileMove, Meter
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.clients.smb.wire import Opcode
from storage.plan import Settings
from tests.app.clients.smb import proxy
from tests.app.clients.smb.conftest import MakeClient
from tests.app.clients.smb.proxy import Message, Proxy
from tests.servers.smbd import Smbd


class Once:
    """The next answer to a command, once armed, is this status; all others pass."""

    def __init__(self, wanted: int, status: int) -> None:
        self.wanted, self.status, self.armed = wanted, status, False

    def __call__(self, message: bytearray) -> Iterable[Message]:
        if self.armed and proxy.command(message) == self.wanted:
            self.armed = False
            alone = bytearray(message)
            alone[20:24] = bytes(4)
            return [proxy.refusal(alone, self.status)]
        return [message]


def files_through(server: Smbd, between: Proxy) -> SMBFiles:
    target = replace(server.target(), port=between.port)
    return SMBFiles(target, server.secrets(), Settings(timeout_seconds=10, single_requests=True))


@pytest.mark.parametrize("status", sorted(wire.SESSION_OVER), ids=wire.status_name)
def test_a_user_of_a_load_logs_in_anew_after_the_server_ended_the_session(smbd: Smbd, status: int):
    smbd.make_file("over", bytes(1000))
    script = Once(Opcode.CREATE, status)
    with Proxy(smbd.host, smbd.port, script) as between:
        files = files_through(smbd, between)
        before = files.connected_share()
        script.armed = True
        with pytest.raises(ConnectionLostError):
            files.read_file("over", 1000)
        files.connect()
        assert files.connected_share() is not before
        assert files.read_file("over", 1000) == 1000
        files.close()


def test_a_refusal_of_one_request_keeps_the_session(smbd: Smbd):
    smbd.make_file("over", bytes(1000))
    script = Once(Opcode.CREATE, wire.ACCESS_DENIED)
    with Proxy(smbd.host, smbd.port, script) as between:
        files = files_through(smbd, between)
        before = files.connected_share()
        script.armed = True
        with pytest.raises(MeasurementError):
            files.read_file("over", 1000)
        assert files.connected_share() is before
        files.close()


def test_a_session_that_ends_among_many_files_is_not_used_again(smbd: Smbd):
    script = Once(Opcode.CREATE, wire.STATUSES["STATUS_USER_SESSION_DELETED"])
    smbd.make_file("over", bytes(1000))
    with Proxy(smbd.host, smbd.port, script) as between:
        files = files_through(smbd, between)
        before = files.connected_share()
        script.armed = True
        with pytest.raises(ConnectionLostError):
            files.move_files([FileMove("over", 1000)] * 20, lambda _file, _count: None)
        assert files.connected_share() is not before
        assert files.read_file("over", 1000) == 1000
        files.close()


def test_a_put_whose_session_ends_leaves_a_client_that_can_go_on(smbd: Smbd, make_client: MakeClient, meter: Meter):
    script = Once(Opcode.WRITE, wire.STATUSES["STATUS_NETWORK_SESSION_EXPIRED"])
    with Proxy(smbd.host, smbd.port, script) as between:
        client = make_client(smbd, port=between.port)
        client.connect()
        script.armed = True
        with pytest.raises(ConnectionLostError):
            client.put("session over", Content(1000), meter)
        client.remove("session over")
    assert not (smbd.folder / "session over").exists()


def test_a_dfs_referral_is_named_and_not_followed(smbd: Smbd, make_client: MakeClient):
    script = Once(Opcode.CREATE, wire.STATUSES["STATUS_PATH_NOT_COVERED"])
    with Proxy(smbd.host, smbd.port, script) as between:
        client = make_client(smbd, port=between.port)
        client.connect()
        script.armed = True
        with pytest.raises(MeasurementError, match="another server") as caught:
            client.size("elsewhere")
        assert not isinstance(caught.value, NoSuchFileError), "what is to be removed there would count as gone"


@pytest.mark.parametrize("request_bytes", [1000, 0], ids=["read", "query"])
def test_an_open_whose_answer_is_cut_off_is_an_error_of_one_line(smbd: Smbd, request_bytes: int):
    class CutOff(Once):
        def __call__(self, message: bytearray) -> Iterable[Message]:
            if self.armed and proxy.is_success(message, self.wanted):
                self.armed = False
                return [bytes(message[: wire.HEADER_BYTES + 8])]
            return [message]

    smbd.make_file("over", bytes(1000))
    script = CutOff(Opcode.CREATE, wire.SUCCESS)
    with Proxy(smbd.host, smbd.port, script) as between:
        files = files_through(smbd, between)
        files.connected_share()
        script.armed = True
        with pytest.raises(ProtocolError, match="cut off"):
            files.read_file("over", request_bytes) if request_bytes else files.query("over")
        files.close()
