"""Evidence files that were made wrong before they were signed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app import __version__
from app.base.errors import MissingProgramError
from app.evidence import signature
from app.evidence.file import CHANGED, NOT_SIGNED, UNCHANGED, sign, verify
from forms.series.document import series_document
from tests.builders import one
from tests.command_line import Inside
from tests.reliability.evidence import new_key


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_key(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def good(key: Path) -> bytes:
    return sign([series_document(one(1))], key)


def again(good: bytes, key: Path, change: Callable[[str], str]) -> bytes:
    """The file with its text changed and signed again."""
    before = good.rpartition(b',\n "signature": "')[0].decode()
    text = change(before).encode()
    assert text != before.encode()
    return text + b',\n "signature": "' + signature.sign_text(text, key).encode() + b'"\n}\n'


AVERAGE = '"average": {'


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"percent_of_link": 80', '"percent_of_link": 8e1111'),
        lambda text: text.replace(AVERAGE, f'{AVERAGE} "x": NaN,'),
        lambda text: text.replace(AVERAGE, f'{AVERAGE} "x": Infinity,'),
        lambda text: text.replace(AVERAGE, f'{AVERAGE} "x": 1e400,'),
        lambda text: text.replace(AVERAGE, f'"average": {{"bytes_per_second": 1}}, {AVERAGE}'),
        lambda text: text.replace('"recordings": [', '"recordings": [], "recordings": ['),
        lambda text: text.replace("evidence/1", "evidence/99"),
        lambda text: text.replace("evidence/1", "evidence/2"),
        lambda text: text.replace('"schema": "sharebench/evidence/1",', "", 1),
        lambda text: text.replace('"schema": "sharebench/series/1"', '"schema": "sharebench/series/2"'),
        lambda text: text.replace(f'"version": "{__version__}",', "", 1),
        lambda text: text.replace('"version"', '"more": 1, "version"', 1),
        lambda text: text[: text.index('"recordings"')] + '"recordings": []',
        lambda text: text[: text.index('"recordings"')] + '"recordings": {}',
        lambda text: text[: text.index('"recordings"')] + '"recordings": [{}]',
        lambda text: text[: text.index('"recordings"')] + '"recordings": ' + "[" * 100_000,
        lambda text: text[: text.index('"recordings"')] + '"recordings": ' + "[" * 900 + "]" * 900,
    ],
)
def test_what_was_wrong_before_it_was_signed_is_told_in_one_line(good: bytes, key: Path, change: Callable[[str], str]):
    found = verify(again(good, key, change))
    assert (found.exit_code, len(found.text.splitlines())) == (CHANGED, 1), found.text


def test_deep_values_that_only_another_version_has_are_no_fault(good: bytes, key: Path):
    deep = '"more": ' + "[" * 400 + "1" + "]" * 400
    version = f'"version": "{__version__}"'
    text = again(
        good, key, lambda text: text.replace(version, '"version": "99"').replace(AVERAGE, f"{deep}, {AVERAGE}")
    )
    assert verify(text).exit_code in {CHANGED, UNCHANGED}


def test_the_names_of_what_is_not_checked_are_told(good: bytes, key: Path):
    found = verify(good, [key.with_suffix(".pub")])
    assert found.exit_code == UNCHANGED
    assert {"client", "plan"} <= set(found.believed["series"])
    assert "client, plan" in found.text


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("{key} somebody@somewhere", UNCHANGED),
        ("  {key}", UNCHANGED),
        ("{other}\n{key}", UNCHANGED),
        ("{other}", NOT_SIGNED),
        ("# {key}\n{other}", NOT_SIGNED),
        ("  # revoked 2025: {key}\n{other}", NOT_SIGNED),
        ("{other} was before {key}", NOT_SIGNED),
        ("alice@corp {key}", UNCHANGED),
        ("alice@corp,*@corp {key}", UNCHANGED),
        ("*@corp {key}", UNCHANGED),
        ('alice namespaces="git" {key}', NOT_SIGNED),
        ('alice namespaces="git,sharebench" {key}', UNCHANGED),
        ('alice valid-before="20200101" {key}', NOT_SIGNED),
        ('alice valid-after="20200101" {key}', UNCHANGED),
        ('alice valid-after="20990101" {key}', NOT_SIGNED),
        ('alice valid-before="20200101" {key}\nalice {key}', UNCHANGED),
        ("alice cert-authority {key}", NOT_SIGNED),
        ("cert-authority {key}", NOT_SIGNED),
        ("@revoked {key}", NOT_SIGNED),
        ('from="10.0.0.1" {key}', NOT_SIGNED),
        ("nonsense\n{key}", UNCHANGED),
    ],
)
def test_the_file_of_keys_is_read_by_the_rules_of_ssh_keygen(
    good: bytes, key: Path, tmp_path: Path, lines: str, expected: int
):
    other = new_key(tmp_path).with_suffix(".pub").read_text().rsplit(" ", 1)[0]
    mine = key.with_suffix(".pub").read_text().rsplit(" ", 1)[0]
    (tmp_path / "allowed").write_text(lines.format(key=mine, other=other) + "\n")
    assert verify(good, [tmp_path / "allowed"]).exit_code == expected


def test_a_missing_ssh_keygen_is_told_with_its_package(good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgramError, match="openssh-client"):
        verify(good)


def test_a_signature_that_could_be_written_in_another_way_is_none():
    assert signature.is_canonical(b"QUJDRA==")
    assert not signature.is_canonical(b"QUJDRB==")
    assert not signature.is_canonical(b"")
    assert not signature.is_canonical(b"not base64")


@pytest.mark.long
@pytest.mark.parametrize("element", ["[],", "{},", "1,"])
def test_a_huge_signed_file_is_refused_in_a_line(good: bytes, key: Path, tmp_path: Path, element: str):
    huge = "[" + element * (60 * 2**20 // len(element)) + "0]"
    file = tmp_path / "huge.json"
    file.write_bytes(again(good, key, lambda text: text[: text.index('"recordings"')] + f'"recordings": {huge}'))
    done = Inside(tmp_path / "none.db", None)("verify", str(file))
    assert done.returncode in {1, 2}
    assert len((done.stdout + done.stderr).splitlines()) == 1
