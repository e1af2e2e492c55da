"""What networks and servers do to a transfer: interim answers, few credits, short reads, changed bytes, silence."""

import os
from collections.abc import Callable, Iterable

import pytest

from app.base.errors import (
    AccessDeniedError,
    ConnectionLostError,
    CorruptedError,
    MeasurementError,
    ProtocolError,
    StalledError,
)
from app.clients.base import Content, Meter
from app.clients.smb.client import SMBClient
from tests.app.clients.smb import proxy
from tests.app.clients.smb.conftest import Blocks, MakeClient
from tests.app.clients.smb.proxy import READ, WRITE, CutError, HangError, Message, Proxy
from tests.servers.smbd import Smbd

MIB = 1 << 20
SIZE = 6 * MIB + 321


@pytest.fixture
def data(smbd):
    content = os.urandom(SIZE)
    smbd.make_file("faults.bin", content)
    return content


class Script:
    """Lets everything through until it is armed: logins use the same commands as transfers."""

    armed = False

    def __call__(self, message: bytearray) -> Iterable[Message]:
        return self.act(message) if self.armed else [message]

    def act(self, message: bytearray) -> Iterable[Message]:
        raise NotImplementedError


class PendingFirst(Script):
    """Each READ and WRITE is first answered by STATUS_PENDING, which grants the credits."""

    def act(self, message: bytearray) -> Iterable[Message]:
        if proxy.is_success(message, READ) or proxy.is_success(message, WRITE):
            return [proxy.interim(message), proxy.with_credits(message, 0)]
        return [message]


class ShortReads(Script):
    """Each READ brings at most 50,000 bytes."""

    def act(self, message: bytearray) -> Iterable[Message]:
        short = proxy.is_success(message, READ) and len(message) > 60_000
        return [proxy.shortened(message, 50_000) if short else message]


class OplockBreaks(Script):
    """An oplock break comes before each READ and WRITE answer."""

    def act(self, message: bytearray) -> Iterable[Message]:
        return [proxy.oplock_break(), message] if proxy.command(message) in {READ, WRITE} else [message]


class Backwards(Script):
    """READ and WRITE answers come in pairs, the later one first."""

    held: Message = b""

    def act(self, message: bytearray) -> Iterable[Message]:
        if not (proxy.is_success(message, READ) or proxy.is_success(message, WRITE)):
            return [message]
        if not self.held:
            self.held = bytes(message)
            return []
        pair, self.held = [message, self.held], b""
        return pair


class Stingy(Script):
    """Each answer grants so many credits."""

    def __init__(self, count: int) -> None:
        self.count = count

    def act(self, message: bytearray) -> Iterable[Message]:
        return [proxy.with_credits(message, self.count)]


def connected(make_client: MakeClient, server: Smbd, script: Script, between: Proxy, **settings: float) -> SMBClient:
    """A client whose script begins after its login."""
    client = make_client(server, port=between.port, **settings)
    client.connect()
    script.armed = True
    return client


def impatient(client: SMBClient) -> SMBClient:
    """Let it wait half a second from now on: a login may take longer on a busy machine."""
    channel = client._channel
    assert channel is not None
    channel.stall.seconds = 0.5
    return client


def moves_both_ways(client: SMBClient, meter: Meter, data: bytes) -> Content:
    blocks, content = Blocks(len(data)), Content(len(data))
    client.get("faults.bin", meter, blocks)
    assert bytes(blocks.data) == data
    client.put("copy.bin", content, meter)
    return content


@pytest.mark.parametrize(
    "script", [PendingFirst(), ShortReads(), OplockBreaks(), Backwards()], ids=lambda s: type(s).__name__
)
def test_survived(smbd, make_client, meter, data, script):
    """An even number of requests, so that nothing is held back for ever."""
    with Proxy(smbd.host, smbd.port, script) as between:
        client = connected(make_client, smbd, script, between, block_bytes=SIZE // 8 + 1, in_flight=4)
        content = moves_both_ways(client, meter, data)
        script.armed = False
        assert client.digest("copy.bin") == content.digest()
        client.remove("copy.bin")


def test_one_credit_at_a_time(smbd_with, make_client, meter):
    """The window shrinks from what was granted at the start to single credits, and the transfer goes on."""
    server, data = smbd_with({"smb2 max credits": "40"}), os.urandom(SIZE)
    server.make_file("faults.bin", data)
    script = Stingy(1)
    with Proxy(server.host, server.port, script) as between:
        client = connected(make_client, server, script, between)
        content = moves_both_ways(client, meter, data)
        assert client.digest("copy.bin") == content.digest()
        client.remove("copy.bin")


def test_no_credits_at_all(smbd_with, make_client, meter):
    server, script = smbd_with({"smb2 max credits": "8"}), Stingy(0)
    server.make_file("faults.bin", bytes(SIZE))
    with Proxy(server.host, server.port, script) as between:
        with pytest.raises(ProtocolError, match="credits"):
            connected(make_client, server, script, between).get("faults.bin", meter)


class Nth(Script):
    """Does something to the nth large message or, of a command that is named, to the nth one."""

    def __init__(self, number: int, do: Callable[[bytearray], Iterable[Message]], wanted: int | None = None) -> None:
        self.wanted, self.left, self.do = wanted, number, do

    def act(self, message: bytearray) -> Iterable[Message]:
        if len(message) > 100_000 if self.wanted is None else self._is_wanted(message):
            self.left -= 1
            if not self.left:
                return self.do(message)
        return [message]

    def _is_wanted(self, message: bytearray) -> bool:
        """Whether it is the command's final answer: a busy server sends interim ones of its own."""
        return proxy.command(message) == self.wanted and int.from_bytes(message[8:12], "little") != proxy.PENDING


def cut(_message: bytearray) -> Iterable[Message]:
    raise CutError


def hang(_message: bytearray) -> Iterable[Message]:
    raise HangError


def move(client: SMBClient, command: int, meter: Meter) -> None:
    if command == READ:
        client.get("faults.bin", meter)
    else:
        client.put("faults put.bin", Content(SIZE), meter)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("command", [READ, WRITE], ids=["get", "put"])
def test_connection_cut_in_mid_transfer(smbd, make_client, meter, data, command, number):
    script = Nth(number, cut, command)
    with Proxy(smbd.host, smbd.port, script) as between:
        client = connected(make_client, smbd, script, between, block_bytes=MIB)
        with pytest.raises(ConnectionLostError, match="faults"):
            move(client, command, meter)
        client.remove("faults put.bin")


@pytest.mark.parametrize("command", [READ, WRITE], ids=["get", "put"])
def test_silence_in_mid_transfer(smbd, make_client, meter, data, command):
    script = Nth(3, hang, command)
    with Proxy(smbd.host, smbd.port, script) as between:
        client = impatient(connected(make_client, smbd, script, between, block_bytes=MIB))
        with pytest.raises(StalledError, match="faults"):
            move(client, command, meter)
        script.armed = False
        make_client(smbd).remove("faults put.bin")


def test_silence_after_an_interim_answer(smbd, make_client, meter, data):
    script = Nth(2, lambda message: [proxy.interim(message)], READ)
    with Proxy(smbd.host, smbd.port, script) as between:
        client = impatient(connected(make_client, smbd, script, between, block_bytes=MIB))
        with pytest.raises(StalledError):
            client.get("faults.bin", meter)


def test_silence_to_what_is_sent(smbd, make_client, meter):
    """The server takes no more bytes: the put blocks in sending."""
    script = Nth(2, hang, WRITE)
    with Proxy(smbd.host, smbd.port, requests=script) as between:
        client = impatient(connected(make_client, smbd, script, between, in_flight=8))
        with pytest.raises(StalledError):
            client.put("faults put.bin", Content(64 * MIB), meter)
        make_client(smbd).remove("faults put.bin")


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (0xC0000011, ProtocolError, "shorter"),
        (0xC0000022, AccessDeniedError, "denies"),
        (0xC0000203, ConnectionLostError, "session"),
        (0xC0000185, MeasurementError, "disk failed"),
    ],
)
def test_a_read_that_is_refused_in_mid_transfer(smbd, make_client, meter, data, status, error, words):
    """What else is on its way is taken in first, or the connection is made again: the next one works."""
    script = Nth(3, lambda message: [proxy.refusal(message, status)])
    with Proxy(smbd.host, smbd.port, script) as between:
        client = connected(make_client, smbd, script, between, block_bytes=MIB // 2)
        with pytest.raises(error, match=f"faults.bin.*{words}"):
            client.get("faults.bin", meter)
        assert client.get("faults.bin", meter).size_bytes == SIZE


@pytest.mark.parametrize(
    "mangle",
    [
        pytest.param(lambda m: [m[:24] + b"\x99" * 8 + m[32:]], id="a message id that nobody asked for"),
        pytest.param(lambda m: [m[:70] + bytes(2) + m[72:]], id="data cut in its length"),
        pytest.param(lambda m: [m[:66] + b"\x10" + m[67:]], id="data inside the header"),
        pytest.param(lambda m: [m[:68] + b"\xff\xff\xff\x7f" + m[72:]], id="more data than there is"),
        pytest.param(lambda m: [m[:70]], id="cut off"),
        pytest.param(lambda m: [m[:20] + b"\x40" + m[21:]], id="chained to another"),
        pytest.param(lambda m: [b"junk" + m[4:]], id="another protocol"),
        pytest.param(lambda m: [m[:68] + bytes(4) + m[72:80]], id="success without data"),
    ],
)
def test_answers_that_the_protocol_does_not_allow(smbd, make_client, meter, data, mangle):
    script = Nth(2, mangle)
    with Proxy(smbd.host, smbd.port, script) as between:
        client = connected(make_client, smbd, script, between, block_bytes=MIB)
        with pytest.raises(ProtocolError, match=r"^[^\n]*faults\.bin[^\n]*$"):
            client.get("faults.bin", meter)


@pytest.mark.parametrize("first", [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4, b"220 welcome to an FTP server\r\n" * 4])
def test_a_server_that_is_no_smb_server(smbd, make_client, first):
    def answer(_message):
        raise CutError

    class Rude(Proxy):
        def _forward(self, source, sink, script):
            if script is answer:
                sink.sendall(first)

    with Rude(smbd.host, smbd.port, answer) as between:
        with pytest.raises((ProtocolError, ConnectionLostError)) as caught:
            make_client(smbd, port=between.port).connect()
    assert "127.0.0.1" in str(caught.value)


def flip(at: int) -> Callable[[bytearray], Iterable[Message]]:
    """Change one bit of a message."""

    def act(message: bytearray) -> Iterable[Message]:
        message[at] ^= 0x10
        return [message]

    return act


PROTECTIONS = {
    "gmac": {"server signing": "mandatory"},
    "cmac": {"server signing": "mandatory", "server max protocol": "SMB3_00"},
    "hmac": {"server signing": "mandatory", "server max protocol": "SMB2_10"},
    "gcm": {"server smb encrypt": "required"},
    "ccm": {"server smb encrypt": "required", "server max protocol": "SMB3_02"},
}


@pytest.mark.parametrize("at", [-1, 52, 70], ids=["last byte", "signature or first byte", "body"])
@pytest.mark.parametrize("name", PROTECTIONS)
def test_a_changed_byte_is_found_in_what_is_read(smbd_with, make_client, meter, name, at):
    server, script = smbd_with(PROTECTIONS[name]), Nth(2, flip(at))
    server.make_file("faults.bin", bytes(SIZE))
    with Proxy(server.host, server.port, script) as between:
        client = connected(make_client, server, script, between, block_bytes=MIB)
        with pytest.raises(CorruptedError, match=r"faults\.bin.*changed"):
            client.get("faults.bin", meter)


@pytest.mark.parametrize(("name", "error"), [("gmac", CorruptedError), ("gcm", ConnectionLostError)])
def test_a_changed_byte_is_found_in_what_is_written(smbd_with, make_client, meter, name, error):
    """The server finds it: it refuses a request whose signature is wrong, and hangs up on a wrong tag."""
    server, script = smbd_with(PROTECTIONS[name]), Nth(2, flip(-1))
    with Proxy(server.host, server.port, requests=script) as between:
        client = connected(make_client, server, script, between, block_bytes=MIB)
        with pytest.raises(error, match=r"faults put\.bin"):
            client.put("faults put.bin", Content(SIZE), meter)
        client.remove("faults put.bin")
    assert script.left <= 0


def test_a_write_that_was_led_elsewhere_is_found_by_the_size(smbd, make_client, meter):
    """Without a signature nothing else tells: the server acknowledges it."""
    script = Nth(2, flip(75), WRITE)
    with Proxy(smbd.host, smbd.port, requests=script) as between:
        client = connected(make_client, smbd, script, between, block_bytes=MIB)
        with pytest.raises(CorruptedError, match=r"has \d+ bytes of the"):
            client.put("faults put.bin", Content(SIZE), meter)
        client.remove("faults put.bin")


def test_a_signature_taken_away_is_found(smbd_with, make_client, meter):
    server = smbd_with(PROTECTIONS["gmac"])
    server.make_file("faults.bin", bytes(SIZE))

    def unsign(message):
        message[16] &= ~proxy.SIGNED
        message[48:64] = bytes(16)
        return [message]

    script = Nth(2, unsign)
    with Proxy(server.host, server.port, script) as between:
        client = connected(make_client, server, script, between, block_bytes=MIB)
        with pytest.raises(CorruptedError, match="signed"):
            client.get("faults.bin", meter)


@pytest.mark.parametrize("limit", ["SMB3_00", "SMB3_02", "SMB3_11"])
def test_a_changed_negotiation_is_found_at_the_login(smbd_with, make_client, limit):
    """Who takes a capability out of the first messages gets no session."""
    server = smbd_with({"server max protocol": limit})

    def weaken(message: bytearray) -> Iterable[Message]:
        if proxy.command(message) == 0:
            message[88] ^= 0x02
        return [message]

    with Proxy(server.host, server.port, weaken) as between:
        with pytest.raises(CorruptedError):
            make_client(server, port=between.port).connect()
