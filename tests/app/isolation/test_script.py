"""Operation scripts: what is read, what is refused, what can be left out."""

import pytest

from app.base.errors import UsageError
from app.isolation.script import Operation, load_script, operations_named, parse_script

LINES = """
# a comment
0.001 NTCreateX "\\clients\\client1\\a b.doc" 0x40 0x2 9938 NT_STATUS_OK
WriteX 9938 0 512 512 NT_STATUS_OK
ReadX 9938 0 512 512 NT_STATUS_OK
LockX 9938 10 1 NT_STATUS_OK
UnlockX 9938 10 1 NT_STATUS_OK
Close 9938 NT_STATUS_OK
QUERY_PATH_INFORMATION "\\clients\\client1\\none" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
""".splitlines()


def test_a_load_file_is_read_line_by_line():
    script = parse_script("mine", LINES)
    create, *_, query = script.lines
    assert create.operation is Operation.NTCREATEX
    assert create.texts == ("\\clients\\client1\\a b.doc",)
    assert create.numbers == (0x40, 2, 9938)
    assert create.succeeds
    assert not query.succeeds
    assert script.pass_bytes == 1024
    assert script.counts == {
        "close": 1, "lockx": 1, "ntcreatex": 1, "query_path_information": 1, "readx": 1, "unlockx": 1, "writex": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "Dance 1 NT_STATUS_OK",
        "Close 1",
        "Close NT_STATUS_OK",
        "ReadX 1 2 NT_STATUS_OK",
        "ReadX 1 -2 3 4 NT_STATUS_OK",
        "ReadX 1 0 5000000000 5 NT_STATUS_OK",
        "WriteX 1 18446744073709551616 5 5 NT_STATUS_OK",
        'Deltree "/../victim" NT_STATUS_OK',
        'Rename "\\a" "\\b\\..\\..\\c" NT_STATUS_OK',
    ],
)
def test_a_line_that_is_no_request_is_named(line: str):
    with pytest.raises(UsageError, match=r"line 2 of the script bad .*request"):
        parse_script("bad", ["Close 1 NT_STATUS_OK", line])


def test_an_empty_script_and_a_missing_one_are_refused():
    with pytest.raises(UsageError, match="asks for nothing"):
        parse_script("empty", ["# nothing"])
    with pytest.raises(UsageError, match="cannot read the script"):
        load_script("/nonexistent/client.txt")


def test_what_makes_no_sense_without_an_operation_goes_with_it():
    script = parse_script("mine", LINES)
    assert set(script.without([Operation.WRITEX]).counts) & {"writex", "readx"} == set()
    assert set(script.without([Operation.LOCKX]).counts) & {"lockx", "unlockx"} == set()
    assert len(script.without([]).lines) == len(script.lines)


@pytest.mark.parametrize("name", ["close", "ntcreatex", "rename"])
def test_what_the_rest_needs_cannot_be_left_out(name: str):
    with pytest.raises(UsageError, match=f"{name} cannot be left out"):
        parse_script("mine", LINES).without(operations_named(name))


def test_an_unknown_operation_is_refused_with_those_that_can_be_named():
    with pytest.raises(UsageError, match=r"'dance'.*find_first"):
        operations_named("find_first, dance")


def test_our_own_script_is_the_same_each_time_and_closes_what_it_opens():
    script = load_script()
    assert script.digest == "f9571a65a988c797c1f91599b850b878155f2a787e412a9da03979292ed022d4"
    assert script.pass_bytes == 30_494_720
    opened = [line for line in script.lines if line.operation is Operation.NTCREATEX and line.succeeds]
    assert len(opened) == script.counts["close"]
    assert parse_script("again", script.load_file_text().splitlines()).digest == script.digest
