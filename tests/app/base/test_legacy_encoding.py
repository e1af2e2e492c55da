"""Terminals and pipes whose locale is not UTF-8."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from app.base.legacy_encoding import substitute_missing_characters


@pytest.mark.parametrize("encoding", ["iso-8859-1", "iso-8859-15", "koi8-r", "cp1251", "euc-jp", "ascii"])
def test_what_an_encoding_lacks_is_written_as_something_else(encoding: str, monkeypatch: pytest.MonkeyPatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    substitute_missing_characters()
    sys.stdout.write("a✗b\U0001f600c")
    sys.stdout.flush()
    assert written.getvalue() == b"axb?c"


def test_utf_8_is_written_as_it_is(monkeypatch: pytest.MonkeyPatch):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8", errors="surrogateescape")
    monkeypatch.setattr(sys, "stdout", stream)
    substitute_missing_characters()
    sys.stdout.write("✗\udcff")
    sys.stdout.flush()
    assert written.getvalue() == "✗".encode() + b"\xff"


def test_the_help_is_printed_in_latin_1():
    environment = os.environ | {"PYTHONIOENCODING": "iso-8859-1"}
    done = subprocess.run([sys.executable, "-m", "app", "help"], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"..." in done.stdout
