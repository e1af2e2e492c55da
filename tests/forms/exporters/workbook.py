"""Workbooks as a program meets them that has to compute."""

import io
import re
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.servers.process import require
from tests.waiting import HANG_SECONDS


def without_stored_values(content: bytes) -> bytes:
    """The workbook with every formula's value taken out, so that whoever opens it has to compute."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("xl/worksheets/sheet"):
                data = re.sub(rb"(</f>)<v>[^<]*</v>", rb"\1", data)
            new.writestr(name, data)
    return result.getvalue()


def recomputed(folder: Path, books: Mapping[str, bytes]) -> dict[str, bytes]:
    """The workbooks as LibreOffice computes them, all in one start of it."""
    require("soffice", root=False)
    sources = [folder / f"{name}.xlsx" for name in books]
    for source, content in zip(sources, books.values(), strict=True):
        source.write_bytes(without_stored_values(content))
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation={folder.as_uri()}/profile", "--convert-to",
         "xlsx:Calc MS Excel 2007 XML", "--outdir", folder / "done", *sources],
        check=True, capture_output=True, timeout=HANG_SECONDS,
    )  # fmt: skip
    return {source.stem: (folder / "done" / source.name).read_bytes() for source in sources}
