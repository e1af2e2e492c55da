"""Printing: the printers that there are, and what is told where nothing can be printed."""

from pathlib import Path

import pytest

from app.errors import MissingProgramError
from app.printing import PrintingError, print_document, printers

LPSTAT = """case "$1" in -e) printf 'attic\\noffice\\n';; -d) echo 'system default destination: office';; esac"""


def program(folder: Path, name: str, does: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "lpstat", LPSTAT)
    program(
        tmp_path,
        "lp",
        f'echo "$@" > {tmp_path}/asked; cat > {tmp_path}/paper; echo "request id is office-7 (0 file(s))"',
    )
    return tmp_path


def test_the_document_goes_to_the_printer_that_is_named(bin_folder):
    assert printers() == ["office", "attic"], "the usual one first"
    assert print_document(b"%PDF", "attic", title="a b", paper="A4") == "request id is office-7"
    assert (bin_folder / "asked").read_text() == "-t a b -o media=A4 -d attic -\n"
    assert (bin_folder / "paper").read_bytes() == b"%PDF"


def test_without_a_name_it_goes_to_the_usual_printer(bin_folder):
    print_document(b"%PDF", "", title="a", paper="Letter")
    assert (bin_folder / "asked").read_text() == "-t a -o media=Letter -\n"


def test_a_printer_that_is_not_there_is_refused_with_those_that_are(bin_folder):
    with pytest.raises(PrintingError, match="no printer 'celler'; there is: office, attic"):
        print_document(b"%PDF", "celler", title="a", paper="A4")
    assert not (bin_folder / "paper").exists()


def test_without_a_printer_it_says_what_to_do(bin_folder):
    program(bin_folder, "lpstat", "echo 'lpstat: No destinations added.' >&2; exit 1")
    with pytest.raises(PrintingError, match=r"there is no printer: set one up first"):
        printers()
    program(bin_folder, "lp", "echo 'lp: Error - No default destination.' >&2; exit 1")
    with pytest.raises(PrintingError, match=r"nothing was printed: lp: Error - No default destination\.; set one up"):
        print_document(b"%PDF", "", title="a", paper="A4")


def test_without_lp_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgramError, match="apt install cups-client"):
        print_document(b"%PDF", "", title="a", paper="A4")
