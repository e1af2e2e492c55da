"""Series that fill a form with everything it can show, for the exporters' tests and golden files."""

from dataclasses import replace

from storage.records import Change, ClientFacts, Command, Phase, Run, RunStatus, Series, SeriesStatus, Target
from tests.forms.samples import series

HOSTILE = (
    '=HYPERLINK("http://example.org","click")',
    "+1+1",
    "-1+1",
    "@SUM(A1:A9)",
    "'quoted",
    "<script>alert(1)</script> & more",
    "| pipes | `ticks` *stars* _lines_ ~~tildes~~",
    "[link](http://example.org) www.example.org #1 @team :smile:",
    "two\nlines",
    "שלום עולם",
    "مرحبا بالعالم",
    "日本語のラベル",
    "fast 🚀 👩‍💻 ✔️",
)
"""Labels and notes that some format would read as something else than text."""


def full_series() -> Series:
    """A series with every field filled, a rejected, an unusual and a failed run."""
    rates = (118e6, 119e6, 70e6, 118.5e6, 117.2e6)
    one = series(
        rates,
        title="Ethernet interface to the new switch",
        label="cut-through on",
        note="Switch ports 3 and 4.\nCable changed at noon.",
        experiment="switch",
        change=Change(
            name="socket options",
            value="TCP_NODELAY",
            previous="",
            evidence="confirmed",
            also_changed=("mtu",),
            remark="smbd reports it",
        ),
        ceiling_bytes_per_second=900e6,
        quiet={"verdict": "typical", "reasons": ["CPU 12 % at work"]},
    )
    runs = [
        replace(run, status=RunStatus.REJECTED, reason="the backup ran")
        if run.phase is Phase.MEASURED and run.number == 4
        else run
        for run in one.runs
    ]
    lost = Run(
        number=6,
        phase=Phase.MEASURED,
        status=RunStatus.FAILED,
        size_bytes=1 << 30,
        error="the server nas closed the connection",
    )
    return replace(one, runs=(*runs, lost))


def book_series() -> Series:
    """Table B-9's five runs: the size as printed and the times that the printed rates imply."""
    size, rates = 1_812_898, (761_580, 767_820, 747_420, 760_020, 772_700)
    runs = tuple(
        Run(number=i + 1, phase=Phase.MEASURED, size_bytes=size, seconds=size / rate) for i, rate in enumerate(rates)
    )
    return Series(
        id="b9b9b9b9b9b9",
        created_at="1999-11-01T10:00:00.000Z",
        status=SeriesStatus.COMPLETE,
        title="Ethernet Interface to Same Host: FTP",
        command=Command.GET,
        target=Target(protocol="ftp", host="localhost", port=21, path="/big"),
        client=ClientFacts(name="ftp"),
        link_bits_per_second=10_000_000,
        runs=runs,
    )


def hostile_series(text: str) -> Series:
    """A series in which every text from outside is this one."""
    one = series(
        (118e6, 119e6, 118.5e6),
        title=text,
        label=text,
        note=text,
        experiment=text,
        quiet={"verdict": "busy", "reasons": [text]},
        change=Change(name=text, value=text, previous=text, remark=text, also_changed=(text,)),
        target=Target(protocol="smb", host="nas", port=445, share=text, path=text, user=text),
    )
    runs = tuple(
        replace(run, status=RunStatus.REJECTED, reason=text) if run.phase is Phase.MEASURED and run.number == 2 else run
        for run in one.runs
    )
    return replace(one, runs=runs)
