"""What networks and servers do to a transfer: interim answers, few credits, short reads, changed bytes, silence."""

import os
from collections import deque

import pytest

from app.clients.content import Content
from app.errors import ConnectionLostError, CorruptedError, ProtocolError, StalledError
from tests.app.clients.smb import proxy
from tests.app.clients.smb.conftest import Blocks
from tests.app.clients.smb.proxy import READ, WRITE, CutError, HangError, Proxy

MIB = 1 << 20
SIZE = 6 * MIB + 321


@pytest.fixture
def data(smbd):
    content = os.urandom(SIZE)
    smbd.make_file("faults.bin", content)
    return content


def pending_first(message):
    """Each READ and WRITE is first answered by STATUS_PENDING, which grants the credits."""
    if proxy.is_success(message, READ) or proxy.is_success(message, WRITE):
        return [proxy.interim(message), proxy.with_credits(message, 0)]
    return [message]


def short_reads(message):
    """Each READ brings at most 50,000 bytes."""
    return (
        [proxy.shortened(message, 50_000)] if proxy.is_success(message, READ) and len(message) > 60_000 else [message]
    )


def with_oplock_breaks(message):
    """An oplock break comes before each READ and WRITE answer."""
    return [proxy.oplock_break(), message] if proxy.command(message) in {READ, WRITE} else [message]


class Reversed:
    """READ and WRITE answers come in pairs, the later one first."""

    def __init__(self):
        self.held = deque()

    def __call__(self, message):
        if proxy.command(message) not in {READ, WRITE}:
            held, self.held = list(self.held), deque()
            return [*held, message]
        self.held.append(bytes(message))
        if len(self.held) < 2:
            return []
        pair, self.held = list(self.held)[::-1], deque()
        return pair


class Stingy:
    """From the first READ or WRITE on, each answer grants so many credits."""

    def __init__(self, count):
        self.count = count
        self.begun = False

    def __call__(self, message):
        self.begun |= proxy.command(message) in {READ, WRITE}
        return [proxy.with_credits(message, self.count) if self.begun else message]


@pytest.mark.parametrize(
    "script",
    [pending_first, short_reads, with_oplock_breaks],
    ids=["pending", "short reads", "oplock breaks"],
)
def test_survived(smbd, make_client, meter, data, script):
    with Proxy(smbd.host, smbd.port, script) as between:
        moves_both_ways(make_client(smbd, port=between.port, block_bytes=MIB), meter, data)


def test_answers_out_of_order_are_put_in_order(smbd, make_client, meter, data):
    """An even number of requests, so that none is held back for ever."""
    with Proxy(smbd.host, smbd.port, Reversed()) as between:
        client = make_client(smbd, port=between.port, block_bytes=SIZE // 8 + 1, in_flight=4)
        moves_both_ways(client, meter, data)


def test_one_credit_at_a_time(make_smbd, make_client, meter):
    """The window shrinks from what was granted at the start to single credits, and the transfer goes on."""
    server, data = make_smbd({"smb2 max credits": "40"}), os.urandom(SIZE)
    server.make_file("faults.bin", data)
    with Proxy(server.host, server.port, Stingy(1)) as between:
        moves_both_ways(make_client(server, port=between.port), meter, data)


def test_no_credits_at_all(make_smbd, make_client, meter):
    server = make_smbd({"smb2 max credits": "8"})
    server.make_file("faults.bin", bytes(SIZE))
    with Proxy(server.host, server.port, Stingy(0)) as between:
        with pytest.raises(ProtocolError, match="credits"):
            make_client(server, port=between.port).get("faults.bin", meter)


def moves_both_ways(client, meter, data):
    blocks, content = Blocks(len(data)), Content(len(data))
    client.get("faults.bin", meter, blocks)
    assert bytes(blocks.data) == data
    client.put("copy.bin", content, meter)
    assert client.digest("copy.bin") == content.digest()
    client.remove("copy.bin")


class Nth:
    """Does something to the nth answer of a command, and lets all others through."""

    def __init__(self, wanted, number, act):
        self.wanted, self.left, self.act = wanted, number, act

    def __call__(self, message):
        if proxy.command(message) == self.wanted:
            self.left -= 1
            if not self.left:
                return self.act(message)
        return [message]


def cut(_message):
    raise CutError


def hang(_message):
    raise HangError


def move(client, command, meter):
    if command == READ:
        client.get("faults.bin", meter)
    else:
        client.put("faults put.bin", Content(SIZE), meter)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("command", [READ, WRITE], ids=["get", "put"])
def test_connection_cut_in_mid_transfer(smbd, make_client, meter, data, command, number):
    with Proxy(smbd.host, smbd.port, Nth(command, number, cut)) as between:
        client = make_client(smbd, port=between.port, block_bytes=MIB)
        with pytest.raises(ConnectionLostError, match="faults"):
            move(client, command, meter)
        client.remove("faults put.bin")


@pytest.mark.parametrize("command", [READ, WRITE], ids=["get", "put"])
def test_silence_in_mid_transfer(smbd, make_client, meter, data, command):
    with Proxy(smbd.host, smbd.port, Nth(command, 3, hang)) as between:
        client = make_client(smbd, port=between.port, block_bytes=MIB, timeout_seconds=0.4)
        with pytest.raises(StalledError, match="faults"):
            move(client, command, meter)
        client.remove("faults put.bin")


def test_silence_after_an_interim_answer(smbd, make_client, meter, data):
    def pend(message):
        return [proxy.interim(message)]

    with Proxy(smbd.host, smbd.port, Nth(READ, 2, pend)) as between:
        with pytest.raises(StalledError):
            make_client(smbd, port=between.port, block_bytes=MIB, timeout_seconds=0.4).get("faults.bin", meter)


def test_silence_to_what_is_sent(smbd, make_client, meter):
    """The server takes no more bytes: the put blocks in sending."""

    def stop(_message):
        raise HangError

    with Proxy(smbd.host, smbd.port, requests=Nth(WRITE, 2, stop)) as between:
        client = make_client(smbd, port=between.port, timeout_seconds=0.4)
        with pytest.raises(StalledError):
            client.put("faults put.bin", Content(64 * MIB), meter)
        client.remove("faults put.bin")


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
    with Proxy(smbd.host, smbd.port, Nth(READ, 2, mangle)) as between:
        client = make_client(smbd, port=between.port, block_bytes=MIB)
        try:
            client.get("faults.bin", meter, blocks := Blocks(SIZE))
        except ProtocolError as error:
            assert "faults.bin" in str(error)
            assert "\n" not in str(error)
        else:
            assert bytes(blocks.data) == data


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


def flip(at):
    """Change one bit of a message."""

    def act(message):
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
def test_a_changed_byte_is_found_in_what_is_read(make_smbd, make_client, meter, name, at):
    server = make_smbd(PROTECTIONS[name])
    server.make_file("faults.bin", bytes(SIZE))
    wanted = READ if "signing" in str(PROTECTIONS[name]) else -1
    number = 2
    if wanted == -1:  # encrypted messages are told apart by their size alone

        class Large(Nth):
            def __call__(self, message):
                return super().__call__(message) if len(message) > 100_000 else [message]

        script = Large(wanted, number, flip(at))
    else:
        script = Nth(wanted, number, flip(at))
    with Proxy(server.host, server.port, script) as between:
        client = make_client(server, port=between.port, block_bytes=MIB)
        with pytest.raises(CorruptedError, match=r"faults\.bin.*changed"):
            client.get("faults.bin", meter)


@pytest.mark.parametrize("name", ["gmac", "gcm"])
def test_a_changed_byte_is_found_in_what_is_written(make_smbd, make_client, meter, name):
    """The server finds it, and breaks off or refuses: no run may come out of it."""
    server = make_smbd(PROTECTIONS[name])
    seen = []

    def change_second_block(message):
        if len(message) > 100_000:
            seen.append(len(message))
            if len(seen) == 2:
                message[-1] ^= 0x10
        return [message]

    with Proxy(server.host, server.port, requests=change_second_block) as between:
        client = make_client(server, port=between.port, block_bytes=MIB)
        with pytest.raises((CorruptedError, ConnectionLostError, ProtocolError)) as caught:
            client.put("faults put.bin", Content(SIZE), meter)
        client.remove("faults put.bin")
    assert "faults put.bin" in str(caught.value)
    assert len(seen) >= 2


def test_a_signature_taken_away_is_found(make_smbd, make_client, meter):
    server = make_smbd(PROTECTIONS["gmac"])
    server.make_file("faults.bin", bytes(SIZE))

    def unsign(message):
        message[16] &= ~proxy.SIGNED
        message[48:64] = bytes(16)
        return [message]

    with Proxy(server.host, server.port, Nth(READ, 2, unsign)) as between:
        with pytest.raises(CorruptedError, match="signed"):
            make_client(server, port=between.port, block_bytes=MIB).get("faults.bin", meter)


def test_a_changed_negotiation_is_found_at_the_login(smbd, make_client):
    """Pre-authentication integrity: who takes a bit out of the first messages gets no session."""

    def weaken(message):
        if proxy.command(message) == 0:
            message[88] ^= 0x02  # a capability
        return [message]

    with Proxy(smbd.host, smbd.port, weaken) as between:
        with pytest.raises(CorruptedError):
            make_client(smbd, port=between.port).connect()
