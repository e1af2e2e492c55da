"""The short form of the evil campaign, and what it must find."""

import random

import pytest

from app.clients.smb import wire
from app.clients.smb.wire import Opcode
from tests.app.clients.smb import proxy
from tests.reliability import evil, evil_smb
from tests.reliability.evil_smb import Evil, EvilAnswers

SMB_EVILS = (
    "one credit",
    "pending in a flood",
    "longest frame",
    "compressed",
    "unsigned",
    "wrong tag",
    "session expired once",
    "path not covered everywhere",
    "never asked",
    "data elsewhere",
    "reads of another size",
    "nasty names",
)
FTP_EVILS = ("size '213 299999'", "passive elsewhere", "data cut", "end before the data", "closing down", "listed 3")


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "evils", "acts"), [("smb", SMB_EVILS, ("put", "files")), ("ftp", FTP_EVILS, ("put", "browse"))]
)
def test_an_evil_server_gets_no_time_no_wrong_number_and_no_other_host(
    protocol: str, evils: tuple[str, ...], acts: tuple[str, ...]
):
    figures = evil.campaign(300, protocols=(protocol,), evils=evils, acts=acts, workers=2)
    assert figures.losses == []
    assert figures.counts["acts"] == figures.counts["of cases"]
    assert figures.counts["told"] >= figures.counts["acts"] / 2
    assert figures.counts["without effect"] <= figures.counts["acts"] / 4


@pytest.mark.long
def test_a_command_that_talks_to_an_evil_server_ends_with_its_line():
    figures = evil.campaign(300, protocols=("smb",), evils=("share deleted everywhere",), acts=("command: run put",))
    assert figures.losses == []
    assert (figures.counts["commands"], figures.counts["told"]) == (1, 1), figures.text()


def answer(command: int, body: bytes = bytes(8)) -> bytearray:
    return bytearray(wire.header(command, 0, 1, wire.FLAG_RESPONSE, 0, 7, 1, 1) + body)


def test_the_answers_of_a_frame_are_spoiled_one_by_one():
    frame = b"".join(evil_smb.joined([answer(Opcode.CREATE, bytes(9)), answer(Opcode.READ), answer(Opcode.CLOSE)]))
    refused = EvilAnswers(Evil(evil_smb.refuses(0xC000035C), frozenset({Opcode.READ})), random.Random(0))
    while not refused.spoiled:
        (spoiled,) = refused(bytearray(frame))
    created, read, closed = evil_smb.split(bytearray(spoiled))
    assert [proxy.command(one) for one in (created, read, closed)] == [Opcode.CREATE, Opcode.READ, Opcode.CLOSE]
    assert [int.from_bytes(one[8:12], "little") for one in (created, read, closed)] == [0, 0xC000035C, 0]


def test_an_evil_that_comes_once_comes_once():
    script = EvilAnswers(Evil(evil_smb.refuses(1), frozenset({Opcode.TREE_CONNECT}), times=1), random.Random(0))
    statuses = [int.from_bytes(next(iter(script(answer(Opcode.TREE_CONNECT))))[8:12], "little") for _ in range(3)]
    assert statuses == [1, 0, 0]


@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (4, "", "Traceback (most recent call last):"),
        (4, "", "sharebench: a fault in sharebench: KeyError"),
        (4, "", "sharebench: \x1b]52;c;QQ==\x07 is not there"),
        (4, "", "it did not work"),
        (0, "", f"sharebench: {'x' * 2_000}"),
    ],
)
def test_what_a_command_must_not_say_is_a_loss(code: int, out: str, err: str):
    losses: list[str] = []
    evil._judge_output(code, out, err, losses)
    assert losses
    fine: list[str] = []
    evil._judge_output(4, "", "sharebench: smb://nas/data: the server closed the share; measure again", fine)
    assert fine == []
